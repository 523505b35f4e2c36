import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const root = join(import.meta.dirname, '../..');
const systemChromium = '/usr/bin/chromium';

// Without the background flags a closed network refuses Chromium's own connections, many at a time.
const flags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// The second archive holds the system libraries (nss, expat) that a bare machine lacks.
const unpackScript = `
  import chromium, { inflate } from '@sparticuz/chromium';
  await Promise.all([chromium.executablePath(), inflate('node_modules/@sparticuz/chromium/bin/al2023.tar.br')]);
`;

/** Starts a headless Chromium with an empty profile: the system's, else the one that npm brought. Close it with `await using`. */
export async function launchChromium(): Promise<Browser> {
  return existsSync(systemChromium) ? launch(systemChromium) : launchUnpacked(await unpackChromium());
}

/** Why no browser starts here, or undefined. Meant for `describe.skipIf`; the reason is printed, so that a skip is seen. */
export async function chromiumProblem(): Promise<string | undefined> {
  try {
    await using _browser = await launchChromium();
    return undefined;
  } catch (cause) {
    const problem = `browser tests skipped, no Chromium starts here: ${String(cause)}`;
    console.warn(problem);
    return problem;
  }
}

function launch(executablePath: string, env: Record<string, string> = {}): Promise<Browser> {
  const asRoot = process.getuid?.() === 0;
  return chromium.launch({
    executablePath,
    args: asRoot ? ['--no-sandbox', ...flags] : flags,
    env: { ...process.env, ...env },
  });
}

function launchUnpacked(folder: string): Promise<Browser> {
  const fonts: Record<string, string> = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') };
  return launch(join(folder, 'chromium'), { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), ...fonts });
}

/** The package unpacks in place under the temp folder, where a second process would start a half-written file: unpack aside, then rename. */
async function unpackChromium(): Promise<string> {
  const cache = join(root, 'node_modules/.cache');
  const manifest = await readFile(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8');
  const folder = join(cache, `chromium-${(JSON.parse(manifest) as { version: string }).version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(`${folder}-`);
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', unpackScript], {
    cwd: root,
    env: { ...process.env, TMPDIR: aside },
  });
  try {
    await rename(aside, folder);
  } catch (cause) {
    await rm(aside, { recursive: true });
    if (!existsSync(folder)) throw cause; // else another process was first, and its copy is as good
  }
  return folder;
}
