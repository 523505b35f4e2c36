import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { given } from '../../../kernel/index.ts';
import { GuardedFiles, isUnder } from '../../../plugins/tools-fs/contract.ts';
import { guardedOf, programFiles } from '../../../plugins/tools-fs/guarded.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { bootTest } from '../../support/kernel.ts';
import { allowAll, textOf, turnIn } from '../../support/toolbench.ts';

interface Project {
  readonly files: readonly string[];
  /** From the link to its target, as it is written. */
  readonly links?: Readonly<Record<string, string>>;
  readonly plugins?: readonly string[];
  readonly roots?: readonly string[];
}

/** A workspace that holds its config, with links made before the gateway looks. */
async function project({ files, links = {}, plugins = [], roots = [] }: Project) {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'instar-imports-')));
  for (const name of ['instar.json5', ...files]) {
    await mkdir(dirname(join(top, name)), { recursive: true });
    await writeFile(join(top, name), '{}');
  }
  for (const [name, target] of Object.entries(links)) {
    await mkdir(dirname(join(top, name)), { recursive: true });
    await symlink(target, join(top, name));
  }
  const at = (names: readonly string[]) => names.map((name) => join(top, name));
  const sources = { config: at(['instar.json5']), roots: at(['state/plugins', ...roots]), plugins: at(plugins) };
  const booted = await bootTest([toolsFs, allowAll], {}, { home: join(top, 'state'), sources });
  const write = async (path: string) => {
    const values = [given(Turn, turnIn(top))];
    return textOf(await booted.kernel.run((run) => run.callTool({ id: 'c', name: 'write', args: { path, content: 'evil' } }), { values }));
  };
  const dispose = async () => {
    await booted[Symbol.asyncDispose]();
    await rm(top, { recursive: true, force: true });
  };
  return { top, booted, write, [Symbol.asyncDispose]: dispose };
}

/** As `npm install ./packages/mine` leaves it. */
const linked: Project = {
  files: [
    'packages/mine/package.json',
    'packages/mine/index.js',
    'packages/dep/index.js',
    'packages/deep/index.js',
    'packages/idle/index.js',
  ],
  links: {
    'node_modules/instar-plugin-mine': '../packages/mine',
    'node_modules/@own/dep': '../../packages/dep',
    'packages/dep/node_modules/deep': '../../deep',
  },
  plugins: ['packages/mine/index.js'],
};
const stored: Project = {
  files: ['plugins/mine/index.ts', 'lib/shared.js', '.store/dep/index.js'],
  links: { node_modules: '.store' },
  roots: ['plugins'],
  plugins: ['plugins/mine/index.ts', 'lib/shared.js'],
};
const elsewhere: Project = {
  files: ['vendor/mine/dist/index.js'],
  links: { 'node_modules/mine': '../vendor/mine' },
  plugins: ['vendor/mine/dist/index.js'],
};
const changes: readonly (readonly [what: string, project: Project, path: string])[] = [
  ['what package.json of a linked package would name', linked, 'packages/mine/evil.js'],
  ['package.json of a linked package', linked, 'packages/mine/package.json'],
  ['what a linked package imports by a link in a scope', linked, 'packages/dep/index.js'],
  ['what that imports by a link of its own', linked, 'packages/deep/index.js'],
  ['a nearer node_modules', linked, 'packages/node_modules/@own/dep/index.js'],
  ['a file without extension, which an import would take first', stored, 'lib/shared'],
  ['the folder that node_modules is a link to', stored, '.store/dep/index.js'],
  ['the folder that node_modules is a link to, before it is there', { ...stored, links: { node_modules: 'none' } }, 'none/dep/index.js'],
  [
    'what a link in node_modules leads to, before it is there',
    { ...linked, links: { ...linked.links, 'node_modules/gone': '../gone' } },
    'gone/index.js',
  ],
  ['a package.json that none is nearer than', stored, 'package.json'],
  ['another entry beside the folder of the first', elsewhere, 'vendor/mine/package.json'],
];
test.each(changes)('S11: no tool changes which code is loaded: %s', async (_, kind, path) => {
  await using at = await project(kind);
  expect(await at.write(path)).toMatch(/which decides what the gateway runs.*tools may read it and not change it/);
});

const ordinary: readonly (readonly [what: string, project: Project, path: string])[] = [
  ['node_modules of a project whose config has no plugin', { files: [] }, 'node_modules/dep/index.js'],
  ['its package.json', { files: ['package.json'] }, 'package.json'],
  ['its folder plugins', { files: [] }, 'plugins/mine/index.ts'],
  ['a package that no live plugin is linked to', { ...linked, plugins: [] }, 'packages/mine/index.js'],
  ['a package of the workspace that no link leads to', linked, 'packages/idle/index.js'],
  ['package.json above that of the plugin', { ...linked, files: [...linked.files, 'package.json'] }, 'package.json'],
  ['sources beside plugins', stored, 'src/index.ts'],
];
test.each(ordinary)('what no live plugin uses may be written: %s', async (_, kind, path) => {
  await using at = await project(kind);
  expect(await at.write(path)).toMatch(/^(Created|Replaced)/);
});

test('S11: what a plugin adds is guarded, and each link on the way to it', async () => {
  await using at = await project({ files: ['b/part.json5'], links: { a: 'b', c: 'a' } });
  const named = { name: 'named', description: 'Names a file', setup: () => {} };
  const fixed = () => at.booted.kernel.run(guardedOf).then((all) => all.fixed);
  const before = await fixed();
  expect(before.filter((path) => isUnder(join(at.top, 'b'), path))).toEqual([]);
  await at.booted.apply([
    toolsFs,
    allowAll,
    {
      ...named,
      setup: (ctx) => ctx.tap(GuardedFiles, (all) => ({ ...all, fixed: [...all.fixed, join(at.top, 'c/part.json5')] })),
    },
  ]);
  const after = await fixed();
  for (const name of ['c', 'a', 'b/part.json5']) expect(after).toContain(join(at.top, name));
  expect(await at.write('b/part.json5')).toContain('tools may read it and not change it');
});

test('of what a program is started with, files are guarded and folders are not', async () => {
  await using at = await project({ files: ['server.mjs', 'hook.mjs', 'data/list.txt'] });
  const files = programFiles('node', ['--import=./hook.mjs', 'server.mjs', 'data', 'none.js'], at.top);
  expect(files).toEqual([join(at.top, 'hook.mjs'), join(at.top, 'server.mjs')]);
  // What is no path is none.
  expect(programFiles('node', ['{}'.repeat(5000), 'a\0b', 'server.mjs/x', '-e', ''], at.top)).toEqual([]);
  expect(programFiles('./run', [], at.top)).toEqual([join(at.top, 'run')]);
});

test('where nothing changed, guarding costs a call next to nothing', async () => {
  const plugins = Array.from({ length: 300 }, (_, i) => `code/f${i}/index.ts`);
  await using at = await project({ files: plugins, plugins });
  await at.booted.kernel.run(async (run) => {
    await guardedOf(run);
    const began = process.cpuUsage();
    for (let i = 0; i < 20; i++) await guardedOf(run);
    const { user, system } = process.cpuUsage(began);
    // Looking takes some ten milliseconds each time.
    expect((user + system) / 20_000).toBeLessThan(3);
  });
});
