import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { definePlugin, FilterPolicy } from '../../../kernel/index.ts';
import { uselessLine } from '../../../plugins/tools-exec/allowance.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import type { Rules } from '../../../plugins/tools-exec/rules.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';
import { machine, named } from './machine.ts';

let box: Awaited<ReturnType<typeof machine>>;
beforeAll(async () => {
  box = await machine(['make', 'cat', 'head', 'id', 'git', 'sort', 'ls']);
});
afterAll(() => box[Symbol.asyncDispose]());

const heredoc = (command: string) => `${command} <<E\nall: ; id\nE\n`;

const granted: readonly (readonly [command: string, isGranted: boolean])[] = [
  ['make -f -', true],
  [heredoc('make -f -'), false],
  ['make -f - <x', false],
  ['make -f - <<< x', false],
  ['cat x | make -f -', false],
  ['timeout 5 make -f - <x', false],
  ['id <x', true],
  ['cat x | id', true],
  ['id >x', false],
  ['id >>x', false],
  ['id 2>/dev/null', true],
  ['head -n 99 >x', false],
];
test.each(granted)(
  '"always" for %j can be given: %s, for it covers neither what tells a program what to do nor what is written',
  async (command, isGranted) => {
    const { kind, grants } = await box.test(command);
    expect([kind, grants !== undefined]).toEqual(['ask', isGranted]);
  },
);

test('an "always" that was given without input does not cover one with it', async () => {
  const own = { entries: [{ pattern: 'make', args: ['-f', '-'], cwd: box.workspace, sha256: undefined, place: 'approvals allowlist 1' }] };
  expect((await box.test('make -f -', own)).kind).toBe('allow');
  for (const command of [heredoc('make -f -'), 'make -f - <x', 'head -n 5 | make -f -']) {
    const { kind, why } = await box.test(command, own);
    expect([kind, why]).toEqual(['ask', expect.stringMatching(/given to read .*approvals allowlist 1 does not cover/)]);
  }
});

const line = (text: string): Partial<Rules> => ({ lines: [{ line: text, place: 'allow[0]' }] });
const lines: readonly (readonly [allowed: string, command: string, kind: 'allow' | 'ask'])[] = [
  ['make -f -', 'make -f -', 'allow'],
  ['make -f -', heredoc('make -f -'), 'ask'],
  ['make -f -', 'make -f - <x', 'ask'],
  ['head -n 5 | make -f -', 'head -n 5 | make -f -', 'ask'],
  ['make -f - <x', 'make -f - <y', 'ask'],
  ['make -f - <x', 'make -f -', 'ask'],
  ['cat <x', 'cat <x', 'ask'],
  ['cat', 'cat <x', 'allow'],
];
test.each(lines)('SPEC 4.2: with %j in tools.exec.allow %j is %s', async (allowed, command, kind) => {
  expect((await box.test(command, line(allowed))).kind).toBe(kind);
});

test('a line that counts for nothing is told with its reason', async () => {
  expect(await uselessLine('make -f - <x')).toMatch(/input redirection/);
  expect(await uselessLine('make test >log')).toBeUndefined();
});

const writing: readonly (readonly [command: string, own: Partial<Rules>, kind: 'allow' | 'ask'])[] = [
  [heredoc('head -n 99').replace('<<E', '<<E >AGENTS.md'), {}, 'ask'],
  ['head -n 99 <x >>AGENTS.md', {}, 'ask'],
  ['head -n 99 <x &>AGENTS.md', {}, 'ask'],
  ['head -n 99 <x >/dev/null', {}, 'allow'],
  ['head -n 99 <x 2>&1', {}, 'allow'],
  ['head -n 99 <x >y', named('head'), 'allow'],
  ['head -n 99 <x >y', { ...named('head'), hasWrite: false }, 'ask'],
  ['head -n 99 <x', { hasWrite: false }, 'allow'],
  ['ls >y', { ...named('ls'), hasWrite: false }, 'ask'],
  ['ls >y', { ...line('ls >y'), hasWrite: false }, 'ask'],
  ['ls 2>/dev/null', { ...named('ls'), hasWrite: false }, 'allow'],
];
test.each(writing)('SPEC 4.2: %j under %j is %s: a redirection has its say', async (command, own, kind) => {
  expect((await box.test(command, own)).kind).toBe(kind);
});

test('SPEC 4.2: where the tool write is denied, no redirection of a listed command writes unasked', async () => {
  const noWrite = definePlugin({
    name: 'no-write',
    description: 'test',
    setup: (ctx) => ctx.tap(FilterPolicy, (offer) => ({ ...offer, tools: offer.tools.filter(({ name }) => name !== 'write') })),
  });
  const config = { tools: { exec: { ask: 'off', allowlist: ['echo'] } } };
  for (const [plugins, isWritten] of [
    [[], true],
    [[noWrite], false],
  ] as const) {
    await using bench = await toolbench([toolsFs, toolsExec, allowAll, ...plugins], config);
    await mkdir(bench.workspace, { recursive: true });
    const said = textOf(await bench.call('exec', { command: 'echo x >AGENTS.md' }));
    expect([said, existsSync(join(bench.workspace, 'AGENTS.md'))]).toEqual([
      expect.stringMatching(isWritten ? /exit code 0/ : /no tool "write"/),
      isWritten,
    ]);
  }
});

test.each([
  ['many commands', 'ls;'.repeat(6000)],
  ['many words', `ls ${'x '.repeat(300)}`],
  ['many words of many commands', `ls ${'x '.repeat(150)};`.repeat(10)],
])('of %s nothing is looked up before they are refused', async (_what, command) => {
  let looked = 0;
  const entries: Rules['entries'] = Object.assign([], {
    [Symbol.iterator]: () => {
      looked += 1;
      return [][Symbol.iterator]();
    },
  });
  const { kind, why } = await box.test(command, { entries });
  expect([kind, why, looked]).toEqual(['deny', expect.stringMatching(/more than the .* smaller steps/), 0]);
  await box.test('ls; ls', { entries });
  expect(looked).toBe(2);
});
