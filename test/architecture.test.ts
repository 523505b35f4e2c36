import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rules } from './support/architecture.ts';

type Rule = keyof typeof rules;
type Files = Readonly<Record<string, string>>;

const checkout = join(import.meta.dirname, '..');
const ruleNames = Object.keys(rules) as Rule[];
const long = (count: number, first = '// reason: a sample') => `${first}\n${'x;\n'.repeat(count - 1)}`;

/** A checkout that keeps every rule, as close to each limit as it may come. */
const sound: Files = {
  '.gitignore': 'node_modules/\n',
  'node_modules/x/utils.js': '',
  'package.json': '{ "dependencies": { "ajv": "1" }, "devDependencies": { "json-schema-to-ts": "1" } }',
  'package-lock.json': '{ "resolved": "plugins/b", "link": true }',
  'kernel/index.ts': long(999, `export * from './host/contract.ts'; // reason: a sample`),
  'kernel/host/main.ts': long(799, `import '../index.ts'; // reason: a sample`),
  'plugins/a/contract.ts': `import '../../kernel/index.ts'; import type { Socket } from 'node:net';`,
  'plugins/a/deep/own.ts': `import '../../../kernel/index.ts'; import '../contract.ts'; import('../../b/contract.ts');`,
  'plugins/b/contract.ts': `export type { A } from '../a/contract.ts'; // import './index.ts';`,
  'plugins/b/index.ts': `import 'ajv'; import '@of/b/deep'; import type { F } from 'json-schema-to-ts';`,
  'plugins/b/package.json': '{ "dependencies": { "@of/b": "1" } }',
  'plugins/testing/kit.ts': `import '../../kernel/host/main.ts'; import '../a/contract.ts';`,
  'plugins/web/page/main.js': `import '/vendor/marked.js';`,
  'test/long.test.ts': long(400, ''),
};

/** Each row spoils the sound checkout, and names the one rule that must object. */
const unsound: readonly [Rule, Files][] = [
  ['what there is to check is found', { 'examples/readme.md': '' }],
  ['the kernel stays small', { 'kernel/more.ts': 'x;\n' }],
  ['the kernel stays small', { 'kernel/host/more.ts': 'x;\n' }],
  ['the kernel knows no plugin, and only the entry knows the host', { 'kernel/index.ts': `import '../plugins/a/x.ts';` }],
  ['the kernel knows no plugin, and only the entry knows the host', { 'kernel/index.ts': `import('./host/main.ts');` }],
  ['the kernel knows no plugin, and only the entry knows the host', { 'kernel/index.ts': `export * from './host/boot.ts';` }],
  [
    'the kernel knows no plugin, and only the entry knows the host',
    { 'kernel/index.ts': '', 'kernel/run.ts': `import './host/contract.ts';` },
  ],
  ['a plugin imports only its own files, the kernel’s entry and contracts', { 'plugins/a/x.ts': `import '../b/index.ts';` }],
  ['a plugin imports only its own files, the kernel’s entry and contracts', { 'plugins/a/x.ts': `import '../../kernel/run.ts';` }],
  ['a plugin imports only its own files, the kernel’s entry and contracts', { 'plugins/a/x.ts': `type X = import('../b/index.ts').X;` }],
  ['a plugin imports only its own files, the kernel’s entry and contracts', { 'plugins/a/x.ts': `import '../testing/kit.ts';` }],
  ['a plugin imports only its own files, the kernel’s entry and contracts', { 'plugins/testing/x.ts': `import '../b/index.ts';` }],
  ['a contract imports only the kernel’s entry and contracts', { 'plugins/a/contract.ts': `import type { X } from './deep/own.ts';` }],
  ['a contract imports only the kernel’s entry and contracts', { 'plugins/a/contract.ts': `import { connect } from 'node:net';` }],
  ['an imported package is one that the product installs', { 'plugins/a/x.ts': `import '@of/b';` }],
  ['an imported package is one that the product installs', { 'plugins/a/x.ts': `import 'json-schema-to-ts';` }],
  ['an imported package is one that the product installs', { 'kernel/index.ts': `import type { F } from 'json-schema-to-ts';` }],
  ['a long file gives its reason', { 'test/long.test.ts': long(401, '// long, without a cause') }],
  ['a file is named by what it holds', { 'plugins/a/text-utils.ts': '' }],
  ['a file is named by what it holds', { 'test/support/helpers.ts': '' }],
  ['the top level holds only what belongs there', { 'notes.md': '' }],
  ['the lockfile names no registry', { 'package-lock.json': '{ "resolved": "https://registry.example/ajv.tgz" }' }],
];

describe('this checkout', () => {
  test.each(ruleNames)('%s', (rule) => {
    expect(rules[rule](checkout)).toEqual([]);
  });
});

describe('the rules themselves', () => {
  test('find nothing wrong with a sound checkout', async () => {
    await using folder = await write(sound);
    expect(ruleNames.flatMap((rule) => rules[rule](folder.path))).toEqual([]);
  });

  test.each(unsound)('object to a checkout where not: %s (row %#)', async (broken, spoiled) => {
    await using folder = await write({ ...sound, ...spoiled });
    expect(ruleNames.filter((rule) => rules[rule](folder.path).length > 0)).toEqual([broken]);
  });
});

async function write(files: Files) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'instar-architecture-'));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return { path: folder.path, [Symbol.asyncDispose]: () => folder.remove() };
}
