import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { isCoded, KernelError } from '../../../kernel/index.ts';
import type { CommandHost, RunCommand } from '../contract.ts';
import { contentsOf, integrityOf } from './contents.ts';
import { draftOf } from './draft.ts';
import { lockPlugin, readPluginLock } from './lock.ts';
import { makeLive, nameFor } from './new.ts';
import { oneName } from './one-name.ts';
import { review } from './review.ts';

/** `instar plugins install SOURCE`: shows what it is, and puts it among the plugins only once that was confirmed. */
export const run: RunCommand = async (argv, host) => {
  const options = { yes: { type: 'boolean', short: 'y' }, name: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const source = oneName(positionals);
  readPluginLock(host.home); // one that cannot be read is told before anything is fetched
  const name = await install(source, host, values);
  return makeLive(name, host);
};

/** The draft is gone before a gateway is told: that may take long, and be broken off. */
async function install(
  source: string,
  { home }: CommandHost,
  { name: wanted, yes = false }: { readonly name?: string; readonly yes?: boolean },
): Promise<string> {
  await using draft = await draftOf(source, home);
  const name = nameFor(wanted ?? draft.name);
  const target = join(home, 'plugins', name);
  if (existsSync(target)) throw exists(target);
  const files = contentsOf(draft.folder);
  const integrity = integrityOf(draft.folder, files);
  console.log(review({ ...draft, name }, files, integrity));
  if (!yes) await confirm();
  await place(draft.folder, target);
  try {
    const { source: from, manifest } = draft;
    const installedAt = new Date().toISOString();
    lockPlugin(home, name, { name, source: from, version: manifest.version ?? '', integrity, installedAt });
  } catch (cause) {
    await rename(target, draft.folder); // without its lock it would be nobody's
    throw cause;
  }
  console.log(`installed ${target}`);
  return name;
}

async function confirm() {
  const refused = (why: string) => new KernelError('PLUGIN_UNCONFIRMED', `${why}; nothing was installed, and nothing of it has run`);
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw refused('nobody can be asked here: look at it, then add --yes');
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new AbortController();
  terminal.once('close', () => closed.abort());
  const answer = await terminal.question('Install? (y/N) ', { signal: closed.signal }).catch(() => ''); // Ctrl-C, Ctrl-D: no
  if (!/^y(es)?$/i.test(answer.trim())) throw refused('not confirmed');
}

/** One rename: whoever looks sees the whole plugin or none. */
async function place(draft: string, target: string) {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await rename(draft, target);
  } catch (cause) {
    if (!isCoded(cause) || !['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(cause.code)) throw cause;
    throw exists(target);
  }
}

const exists = (target: string) =>
  new KernelError('PLUGIN_EXISTS', `${target} is there already, and is left as it is; uninstall or move it first`);
