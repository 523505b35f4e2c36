import * as fc from 'fast-check';
import mvdan from 'mvdan-sh';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Judged } from '../../../plugins/tools-exec/judge.ts';
import { isWhole } from '../../support/series.ts';
import { machine, named } from './machine.ts';

let box: Awaited<ReturnType<typeof machine>>;
beforeAll(async () => {
  box = await machine('ls cat echo evil sh bash env xargs sudo nice timeout find node awk busybox ssh perl head'.split(' '));
});
afterAll(() => box[Symbol.asyncDispose]());
/** Everything is listed but `evil`: the wrappers and interpreters as well, as a careless owner would. */
const listed = named(...'ls cat echo sh bash env xargs sudo nice timeout find node awk busybox ssh perl head'.split(' '));

/** A part of the runs, unless all are wanted (`npm run test:all`). */
const share = isWhole ? 1 : 5;

const pick = (...texts: readonly string[]) => fc.constantFrom(...texts);
const join = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((all) => all.join(''));
const blank = pick(' ', '  ', '\t', ' \\\n');
const evil = pick(
  'evil',
  "'evil'",
  '"evil"',
  'ev\\il',
  "e'vi'l",
  'e""vil',
  'ev\\\nil',
  './../bin/evil',
  '../bin/evil',
  "$'evil'",
  "$'\\x65vil'",
  '${x:-evil}',
  'e{,}vil',
  'evi?',
  'evil\u200b',
  'EVIL',
  '~/../evil',
);
const arg = pick('a', '-l', '"a b"', "'$x'", '$x', '*', '~', '{a,b}', '\\;', 'a#', '=', '--', 'x=1', '"`ls`"');
const good = join(pick('ls', 'cat', 'echo', 'head'), blank, arg);
const redirected = join(good, blank, pick('>x', '<x', '2>&1', '&>x', '>|x', '<<<x', '>&2', '3<x', '<<E\nhi\nE\n'));
const connector = pick(';', '&&', '||', '|', '|&', '&', '\n', ' ; ', ';;');

/** Texts in which `evil` is run. */
const { hostile } = fc.letrec<{ hostile: string }>((tie) => ({
  hostile: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    join(evil, blank, arg),
    join(good, connector, tie('hostile')),
    join(tie('hostile'), connector, good),
    join(redirected, connector, tie('hostile')),
    join(good, fc.constant('$('), tie('hostile'), fc.constant(')')),
    join(good, fc.constant('"$('), tie('hostile'), fc.constant(')"')),
    join(good, fc.constant(' `'), evil, fc.constant('`')),
    join(good, fc.constant(' <('), tie('hostile'), fc.constant(')')),
    join(fc.constant('('), tie('hostile'), fc.constant(')')),
    join(fc.constant('{ '), tie('hostile'), fc.constant('; }')),
    join(fc.constant('! '), tie('hostile')),
    join(fc.constant('if ls; then '), tie('hostile'), fc.constant('; fi')),
    join(fc.constant('for x in a; do '), tie('hostile'), fc.constant('; done')),
    join(fc.constant('while '), tie('hostile'), fc.constant('; do ls; done')),
    join(fc.constant('case a in *) '), tie('hostile'), fc.constant(';; esac')),
    join(fc.constant('f() { '), tie('hostile'), fc.constant('; }; f')),
    join(fc.constant('cat <<E\n$('), tie('hostile'), fc.constant(')\nE\n')),
    join(fc.constant('cat <<E | sh\n'), tie('hostile'), fc.constant('\nE\n')),
    join(pick('X=1 ', 'LD_PRELOAD=x ', 'PATH=. ', 'a[$(evil)]=1 '), tie('hostile')),
    join(
      pick('sh -c ', 'bash -lc ', 'sh -ec ', 'env sh -c ', 'busybox sh -c '),
      tie('hostile').map((text) => `'${text.replaceAll("'", `'\\''`)}'`),
    ),
    join(
      pick(
        'env ',
        'sudo ',
        'nice ',
        'nice -n 5 ',
        'timeout 5 ',
        'timeout -k 1 5 ',
        'xargs ',
        'eval ',
        'exec ',
        'command ',
        'builtin ',
        'time ',
        'coproc ',
        'ssh h ',
        'env -i ',
      ),
      tie('hostile'),
    ),
    join(fc.constant('find . -exec '), evil, fc.constant(" '{}' ';'")),
    join(pick("node -e 'x", "awk 'BEGIN{system(x)", "perl -e 'x"), evil, fc.constant("'")),
    join(fc.constant('cd sub && '), tie('hostile')),
    join(fc.constant('cat <<A <<B\nx\nA\n'), tie('hostile'), fc.constant('\nB\n'), connector, tie('hostile')),
  ),
}));

const programsOf = ({ plan = [] }: Judged) =>
  plan.flatMap(({ commands }) => commands.flatMap(({ argv }) => argv.filter((word) => word.startsWith(box.bin))));

test('S1: no text that runs an unlisted program passes, whatever is around it', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (command) => {
      expect((await box.test(command, listed)).kind).not.toBe('allow');
    }),
    { numRuns: 1500 / share },
  );
});

const anything = fc.oneof(
  hostile,
  good,
  redirected,
  join(good, connector, good),
  join(redirected, connector, good),
  fc.string({ unit: fc.constantFrom(...`ls ec'"\\$\`|&;<>(){}\n#!*x1-=`.split('')) }),
);

test('S1: what passes consists of listed programs alone, and a second parser sees the very same words', { timeout: 60_000 }, async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(anything, async (command) => {
      const answer = await box.test(command, listed);
      if (answer.kind !== 'allow') return;
      passed += 1;
      for (const path of programsOf(answer)) expect(path).not.toMatch(/evil|\/(sh|bash|env|xargs|sudo|node|awk|perl|busybox|ssh)$/);
      const mine = (answer.plan ?? []).flatMap(({ commands }) => commands.map(({ words }) => words));
      expect(mine).toEqual(secondOpinion(command));
    }),
    { numRuns: 2000 / share },
  );
  expect(passed).toBeGreaterThan(100 / share);
});

/** The words of every simple command, by the reference grammar; throws where it finds anything but literal words. */
function secondOpinion(command: string): string[][] {
  const { syntax } = mvdan;
  const found: string[][] = [];
  syntax.Walk(syntax.NewParser().Parse(command, ''), (node) => {
    if (node && syntax.NodeType(node) === 'CallExpr') found.push([...(node as Call).Args].map(textOf));
    return true;
  });
  const [[shell = '', flag = '', text = '', ...more] = []] = found;
  // `sh -c TEXT` alone is executed as TEXT.
  const isInline = found.length === 1 && /^(sh|bash)$/.test(shell) && /^-l?c$/.test(flag) && text !== '' && more.length === 0;
  return isInline ? secondOpinion(text) : found;
}

interface Part {
  readonly Value: string;
  readonly Parts: readonly Part[];
}
type Call = { readonly Args: readonly { readonly Parts: readonly Part[] }[] };

const textOf = ({ Parts }: { readonly Parts: readonly Part[] }): string => [...Parts].map(partText).join('');

function partText(part: Part): string {
  const kind = mvdan.syntax.NodeType(part);
  if (kind === 'Lit') return part.Value.replace(/\\(\n|[^])/g, (_, char: string) => (char === '\n' ? '' : char));
  if (kind === 'SglQuoted') return part.Value;
  if (kind === 'DblQuoted')
    return [...part.Parts].map((inner) => inner.Value.replace(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char))).join('');
  throw new Error(`not literal: ${kind}`);
}
