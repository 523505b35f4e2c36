import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type Folder, folder } from '../host/folder.ts';
import { gateway, instar } from '../host/instar.ts';
import { root } from '../support/instar.ts';
import { long } from '../support/series.ts';

const execute = promisify(execFile);
const page = readFileSync(join(root, 'docs/first-plugin.md'), 'utf8');

interface Block {
  readonly language: string;
  /** Where the page says to save it. */
  readonly file: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...page.matchAll(/^```(\w+) ?(\S*)\n(.*?)^```$/gms)].map(([, language = '', file = '', text = '']) => ({
  language,
  file,
  text,
}));

/** A person's home, with `instar` as a command. */
async function person() {
  const home = await folder({ 'bin/instar': `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'bin.js')}" "$@"\n` });
  await execute('chmod', ['+x', home.at('bin/instar')]);
  const env = { PATH: `${home.at('bin')}:${process.env['PATH']}`, HOME: home.path, INSTAR_NO_DETECT: '1', NO_COLOR: '1' };
  const types = async (command: string) => {
    const { stdout, stderr } = await execute('sh', ['-ec', command], { cwd: root, env });
    return stdout + stderr;
  };
  return { home, types, [Symbol.asyncDispose]: () => home[Symbol.asyncDispose]() };
}

function save(home: Folder, { file, text }: Block) {
  const path = file.replace(/^~/, home.path);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What the gateway says of a save, once it is live. */
const liveAs = (file: string) => /plugins\/([\w-]+)\/index\.ts$/.exec(file)?.[1] ?? (file.endsWith('.json5') ? 'dice' : undefined);

test('SPEC 16.2: docs/first-plugin.md works from top to bottom as it is written', async () => {
  await using one = await person();
  let running: Awaited<ReturnType<typeof gateway>> | undefined;
  let [said, read] = ['', 0];
  try {
    for (const block of blocks) {
      if (block.text.startsWith('instar start ')) running = await gateway(one.home.at('.instar'), block.text.trim().split(' ').slice(2));
      else if (block.language === 'sh') said = await one.types(block.text);
      else if (block.language === 'text') expect(said).toContain(block.text.trimEnd());
      else if (block.file) {
        save(one.home, block);
        const name = liveAs(block.file);
        if (name) read = (await running?.says(new RegExp(`^[^]{${read}}[^]*is live[^\n]*${name} \\(`)))?.length ?? 0;
      }
    }
  } finally {
    await running?.[Symbol.asyncDispose]();
  }
}, 120_000);

test('its blocks are what it promises: a tool, a hook, a provider, their tests, each with its place', () => {
  const files = new Set(blocks.map(({ file }) => file.replace('~/.instar/plugins/', '')));
  for (const file of ['dice/index.ts', 'fair-play/index.ts', 'parrot/index.ts', 'dice/dice.test.ts']) expect(files).toContain(file);
  for (const { language, file } of blocks.filter((one) => one.language === 'ts')) {
    expect(page, `${language} block`).toMatch(new RegExp(`\`${file.replaceAll('.', '\\.')}\``));
  }
});

long(
  'an editor finds nothing wrong with any version of them',
  async () => {
    await using one = await person();
    await one.types('instar plugins new greeter');
    const sources = blocks.filter(({ language }) => language === 'ts');
    for (const [i, block] of sources.entries()) save(one.home, { ...block, file: block.file.replace('plugins/', `plugins/v${i}/`) });
    for (const block of sources) save(one.home, block); // a test finds the newest version beside it
    const plugins = one.home.at('.instar/plugins');
    await one.home.write({
      '.instar/plugins/package.json': '{ "type": "module" }',
      '.instar/plugins/tsconfig.json': '{ "extends": "./greeter/tsconfig.json", "include": ["**/index.ts", "dice/*.ts"] }',
    });
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    const { stdout } = await execute(process.execPath, [tsc, '-p', plugins]).catch((error: { stdout: string }) => error);
    expect(stdout.split('\n').filter((line) => line.includes(': error '))).toEqual([]);
  },
  120_000,
);

test('SPEC 16.2: a copied example and the first config go together', async () => {
  await using one = await person();
  await one.types('mkdir -p ~/.instar/plugins && cp -r examples/plugins/dice ~/.instar/plugins/');
  const config = ['--config', join(root, 'examples/first-config.json5')];
  const { code, out, err } = await instar(one.home.at('.instar'), ['chat', 'use roll_dice {"count": 1}', ...config]).ended;
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^> roll_dice 1\n {1,2}[1-6] /m);
});
