import { expect, test } from 'vitest';
import * as kernel from '../../kernel/index.ts';
import * as sessions from '../../plugins/sessions/contract.ts';
import { openLoader } from '../../kernel/host/loader.ts';
import { bundle } from '../../plugins/cli/bundle.ts';
import { type Folder, folder } from './folder.ts';

async function load(home: Folder, name = 'mine') {
  const entry = home.at(`${name}/index.ts`);
  const loader = openLoader('1.2.3', bundle);
  const { entries, leftOut } = await loader.load([{ name, entry, bundled: false, enabled: true }]);
  const plugin = (entries[0]?.plugin ?? {}) as unknown as Readonly<Record<string, unknown>>;
  return { plugin, entry: entries[0], leftOut, files: loader.files };
}

const plugin = (body = '', head = '') => `${head}\nexport default { name: 'mine', description: 'd', setup() {}, ${body} };`;

test('SPEC 14.1: a user plugin is TypeScript over several files, with JSON and packages of its own, and runs from its folder', async () => {
  await using home = await folder({
    'mine/index.ts': plugin(
      'add: (a: number, b: number) => add(a, b), facts, dep, own: import.meta.filename, dir: import.meta.dirname, url: import.meta.url, lazy: () => import("esm-dep"), late: () => import("./late.ts"), join',
      `import { join } from 'node:path';\nimport { add, type Sum } from './sub/add.ts';\nimport facts from './facts.json';\nimport dep from 'esm-dep';\nexport type X = Sum;`,
    ),
    'mine/sub/add.ts': 'export type Sum = number;\nexport function add(a: number, b: number): Sum { return a + b; }',
    'mine/late.ts': 'export const late: string = "late";',
    'mine/facts.json': '{ "answer": 42 }',
    'mine/node_modules/esm-dep/package.json': '{ "type": "module", "exports": { "import": "./m.js" } }',
    'mine/node_modules/esm-dep/m.js': 'export default "from esm-dep";',
  });
  const { plugin: made, leftOut, files, entry } = await load(home);
  expect(leftOut).toEqual([]);
  expect((made.add as (a: number, b: number) => number)(1, 2)).toBe(3);
  expect(made).toMatchObject({ facts: { answer: 42 }, dep: 'from esm-dep', own: home.at('mine/index.ts'), dir: home.at('mine') });
  expect(made.url).toBe(`file://${home.at('mine/index.ts')}`);
  expect(await (made.lazy as () => Promise<unknown>)()).toMatchObject({ default: 'from esm-dep' });
  expect(await (made.late as () => Promise<unknown>)()).toMatchObject({ late: 'late' });
  expect(entry?.source).toBe(home.at('mine/index.ts'));
  expect(files.get(home.at('mine/index.ts'))?.toSorted()).toEqual(
    ['facts.json', 'index.ts', 'late.ts', 'sub/add.ts'].map((name) => home.at(`mine/${name}`)),
  );
});

test('`instar` and `instar/contracts/*` are the running kernel and its contracts, by name and by path', async () => {
  const root = `${import.meta.dirname}/../..`;
  await using home = await folder({
    'mine/index.ts': plugin(
      'KernelError, service, sessionKey, byPath',
      `import { KernelError, service } from 'instar';\nimport { sessionKey } from 'instar/contracts/sessions';\nimport { KernelError as byPath } from '${'../'.repeat(9)}..${new URL(`file://${root}/kernel/index.ts`).pathname}';`,
    ),
  });
  const { plugin: made, leftOut } = await load(home);
  expect(leftOut).toEqual([]);
  expect(made.KernelError).toBe(kernel.KernelError);
  expect(made.service).toBe(kernel.service);
  expect(made.sessionKey).toBe(sessions.sessionKey);
  expect(made.byPath).toBe(kernel.KernelError);
});

test('the hash follows the content: a reverted save is no change', async () => {
  await using home = await folder({ 'mine/index.ts': plugin('v: 1') });
  const first = await load(home);
  await home.write({ 'mine/index.ts': plugin('v: 2') });
  const second = await load(home);
  await home.write({ 'mine/index.ts': plugin('v: 1') });
  const third = await load(home);
  expect([first.plugin.v, second.plugin.v, third.plugin.v]).toEqual([1, 2, 1]);
  expect(second.entry?.codeHash).not.toBe(first.entry?.codeHash);
  expect(third.entry?.codeHash).toBe(first.entry?.codeHash);
});

test('a stack trace names the source, not the bundle', async () => {
  await using home = await folder({
    'mine/index.ts': plugin('boom', "import { boom } from './boom.ts';"),
    'mine/boom.ts': 'interface A {\n  a: number;\n}\n\nexport function boom(_: A): never {\n  throw new Error("boom");\n}\n',
  });
  const { plugin: made } = await load(home);
  let stack: string | undefined;
  try {
    (made.boom as () => void)();
  } catch (error) {
    stack = (error as Error).stack;
  }
  expect(stack).toContain(`${home.at('mine/boom.ts')}:6:`);
});

test.each([
  [
    'a syntax error',
    { 'mine/index.ts': 'export default {\n\tname: ;\n};' },
    'PLUGIN_LOAD',
    /^\/.*\/mine\/index\.ts:2:8 Expression expected$/,
  ],
  ['an end too soon', { 'mine/index.ts': 'export default {' }, 'PLUGIN_LOAD', /index\.ts:1:17 Unexpected token `<eof>`/],
  [
    'a syntax error in another file',
    { 'mine/index.ts': plugin('', "import './x.ts';"), 'mine/x.ts': 'let a: = 1' },
    'PLUGIN_LOAD',
    /^\/.*\/mine\/x\.ts:1:8 /,
  ],
  ['a fault that only JavaScript has', { 'mine/index.ts': 'const a = 1;\nconst a = 2;' }, 'PLUGIN_LOAD', /index\.ts:2:7 /],
  ['an import that is not there', { 'mine/index.ts': plugin('', "import './gone.ts';") }, 'PLUGIN_LOAD', /gone\.ts/],
  ['a package that is not there', { 'mine/index.ts': plugin('x', "import x from 'gone-package';") }, 'PLUGIN_LOAD', /gone-package/],
  ['a throw at its top level', { 'mine/index.ts': 'throw new Error("early")' }, 'PLUGIN_LOAD', /early/],
  ['syntax that cannot be stripped', { 'mine/index.ts': plugin('', 'enum E { A }') }, 'PLUGIN_LOAD', /index\.ts:1:1 .*enum/],
  ['no default export', { 'mine/index.ts': 'export const x = 1' }, 'PLUGIN_SHAPE', /export default definePlugin/],
  [
    'another name',
    { 'mine/index.ts': 'export default { name: "other", description: "", setup() {} }' },
    'PLUGIN_SHAPE',
    /name must be "mine"/,
  ],
  ['no setup', { 'mine/index.ts': 'export default { name: "mine", description: "" }' }, 'PLUGIN_SHAPE', /setup must be a function/],
  ['provides that is no list', { 'mine/index.ts': plugin('provides: { id: "x" }') }, 'PLUGIN_SHAPE', /provides must be a list/],
])('U027: a plugin with %s is left out with its reason, and its files are still known', async (_, sources, code, why) => {
  await using home = await folder(sources);
  const { leftOut, entry, files } = await load(home);
  expect(entry).toBeUndefined();
  expect(leftOut).toEqual([{ plugin: 'mine', code, why: expect.stringMatching(why) }]);
  expect(files.get(home.at('mine/index.ts'))).toContain(home.at('mine/index.ts'));
});

test('loading a user plugin warns of nothing experimental', async () => {
  await using home = await folder({ 'mine/index.ts': plugin() });
  const warnings: string[] = [];
  const hear = (warning: Error) => warnings.push(warning.message);
  process.on('warning', hear);
  await load(home);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', hear);
  expect(warnings).toEqual([]);
});
