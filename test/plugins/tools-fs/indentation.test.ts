import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KernelError } from '../../../kernel/index.ts';
import { replaceOnce } from '../../../plugins/tools-fs/edit.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { fitOf } from '../../../plugins/tools-fs/indentation.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';

const tabs = 'def f(a):\n\tif a:\n\t\tprint(1)\n\t\tprint(2)\n';
const edits: readonly (readonly [what: string, file: string, oldText: string, newText: string, after: string])[] = [
  [
    'a line more',
    tabs,
    '    if a:\n        print(1)',
    '    if a:\n        print(0)\n        print(1)',
    tabs.replace('\t\tp', '\t\tprint(0)\n\t\tp'),
  ],
  [
    'a deeper one',
    tabs,
    '    if a:\n        print(1)',
    '    if a:\n        for b in a:\n            print(b)',
    tabs.replace('print(1)', 'for b in a:\n\t\t\tprint(b)'),
  ],
  [
    'one further out',
    tabs,
    '    if a:\n        print(1)\n        print(2)',
    '    if a:\n        print(1)\nf(2)',
    tabs.replace('\t\tprint(2)', 'f(2)'),
  ],
  ['none at all', 'def f():\n\tg()\n', '    g()', '    g()\nf(1)', 'def f():\n\tg()\nf(1)\n'],
  [
    'lost indentation',
    tabs,
    'if a:\n  print(1)',
    'if a:\n  if b:\n    print(1)',
    tabs.replace('\t\tprint(1)', '\t\tif b:\n\t\t\tprint(1)'),
  ],
  ['one line of it', tabs, '    if a:  ', '    while a:', tabs.replace('if', 'while')],
  ['spaces for tabs of the model', 'a:\n    b\n', 'a:\n\tb', 'a:\n\tc:\n\t\tb', 'a:\n    c:\n        b\n'],
  ['lines that stay, byte for byte', 'x = “1”\ny\t=  2\nz\n', 'x = "1"\ny = 2\nz', 'x = "1"\ny = 2\nzz', 'x = “1”\ny\t=  2\nzz\n'],
];
test.each(edits)(
  'an edit with other tabs and spaces than the file is put into those of the file: %s',
  async (_, file, oldText, newText, after) => {
    await using bench = await toolbench([toolsFs, allowAll]);
    await mkdir(bench.workspace, { recursive: true });
    const path = join(bench.workspace, 'f');
    await writeFile(path, file);
    expect(textOf(await bench.call('edit', { path: 'f', oldText, newText }))).toMatch(/^Edited f/);
    expect(await readFile(path, 'utf8')).toBe(after);
  },
);

test.each([
  [
    'two tabs that the model may have written as one',
    'class A:\n\tdef f(self, x):\n\t\treturn 1\n',
    '    return 1',
    '    if x:\n        return 2\n    return 1',
  ],
  ['two tabs that it may have written as two', tabs, '        print(2)', '        print(2)\n    f(1)'],
])('one line alone that is deeper than a step does not tell how wide a step is: %s', (_, file, oldText, newText) => {
  expect(() => replaceOnce('f', file, oldText, newText)).toThrow(/how deep the new lines belong there cannot be told/);
});

test('whatever depth a model drops and however wide it writes a tab: it comes out right, or is refused', () => {
  const line = fc.record({ deeper: fc.nat(2), by: fc.nat(3) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(2, 4),
      fc.boolean(),
      fc.array(line, { minLength: 2, maxLength: 6 }),
      (base, width, drops, lines) => {
        const tabbed = (depth: number, word: string) => `${'\t'.repeat(depth)}${word}`;
        const spaced = (depth: number, word: string) => `${' '.repeat(width * (depth - (drops ? base : 0)))}${word}`;
        const all = (write: typeof tabbed, added: boolean) =>
          lines
            .flatMap(({ deeper, by }, i) => [...(added && i === 1 ? [write(base + by, 'new')] : []), write(base + deeper, `l${i}`)])
            .join('\n');
        const [file, after] = [all(tabbed, false), all(tabbed, true)];
        const old = all(spaced, false);
        if (file.includes(old)) return;
        const told = outcomeOf(() => replaceOnce('f', file, old, all(spaced, true)).text);
        expect([after, 'EDIT_NO_MATCH']).toContain(told);
      },
    ),
    { numRuns: 500 },
  );
});

function outcomeOf(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return (error as KernelError).code;
  }
}

const unknown: readonly (readonly [tool: string, args: (old: string, added: string) => object, code: RegExp])[] = [
  [
    'edit',
    (oldText, added) => ({ path: 'f', oldText, newText: `${oldText}\n${added}` }),
    /^edit failed: oldText is in "f" at line 1, but with other tabs/,
  ],
  [
    'apply_patch',
    (old, added) => ({ input: `*** Begin Patch\n*** Update File: f\n@@\n ${old.replaceAll('\n', '\n ')}\n+${added}\n*** End Patch` }),
    /^apply_patch failed: hunk 1 of "f" fits line 1, but with other tabs/,
  ],
];
test.each(unknown)('where the place of a new line cannot be told, %s changes nothing and says so', async (tool, args, expected) => {
  await using bench = await toolbench([toolsFs, allowAll]);
  await mkdir(bench.workspace, { recursive: true });
  const path = join(bench.workspace, 'f');
  const file = '\ta\n    b\n';
  await writeFile(path, file);
  // Four spaces are a tab in one line, and themselves in the next.
  expect(textOf(await bench.call(tool, args('    a\n    b', '    c')))).toMatch(expected);
  expect(await readFile(path, 'utf8')).toBe(file);
});

test('whatever the depths, what four spaces write for tabs comes out in tabs', () => {
  const depths = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(depths, depths, (known, added) => {
      const lines = (unit: string, all: readonly number[]) => all.map((depth, i) => `${unit.repeat(depth)}l${i}`);
      const fit = fitOf(lines('    ', known), lines('\t', known));
      // Any step that was seen tells all others: from depth to depth, or one tab alone.
      if (new Set(known).size > 1 || known.includes(1)) expect(lines('    ', added).map(fit)).toEqual(lines('\t', added));
    }),
  );
});
