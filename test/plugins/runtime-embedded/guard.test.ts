import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical, judge, openGuard, type Step, stepOf } from '../../../plugins/runtime-embedded/guard.ts';

const limits = { warnAt: 3, endAt: 5, patient: new Set(['process']) };
/** `a1 b1`: the calls a and b, each with result 1. */
const stepsOf = (text: string): readonly Step[] =>
  (text.match(/\S+/g) ?? []).map((word) => ({ name: word[0] === 'p' ? 'process' : word[0]!, call: word[0]!, result: word.slice(1) }));

describe('SPEC 6.6: a turn that goes round is told of it, then ended', () => {
  test.each([
    ['', 'go'],
    ['a1 a1', 'go'],
    ['a1 a1 a1', 'warn'],
    ['a1 a1 a1 a1', 'warn'],
    ['a1 a1 a1 a1 a1', 'end'],
    ['b1 a1 a1 a1', 'warn'],
    ['a1 a1 b1 a1 a1', 'go'],
    ['a1 a2 a3 a4 a5 a6', 'go'], // progress
    ['a1 a1 a1 a2', 'go'],
    ['a1 b1 a1 b1', 'go'],
    ['a1 b1 a1 b1 a1 b1', 'warn'],
    ['x1 a1 b1 a1 b1 a1 b1 a1', 'warn'],
    ['a1 b1 a1 b1 a1 b1 a1 b1 a1 b1', 'end'],
    ['a1 b1 a1 b2 a1 b3 a1 b4 a1 b5', 'go'],
    ['a1 b1 c1 a1 b1 c1 a1 b1 c1', 'warn'],
    ['p1 p1 p1 p1 p1 p1 p1 p1', 'go'], // it waits for a process
    ['p1 '.repeat(30), 'warn'],
    ['p1 '.repeat(50), 'end'],
    ['p1 a1 p1 a1 p1 a1 p1 a1 p1 a1', 'end'],
  ])('%s', (text, kind) => {
    expect(judge(stepsOf(text), limits).kind).toBe(kind);
  });
});

const step = fc.record({ name: fc.constantFrom('a', 'b'), call: fc.constantFrom('a', 'b'), result: fc.constantFrom('1', '2') });

test('whatever came before, a block repeated often enough ends the turn, and no turn without a repetition is touched', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.array(step, { minLength: 1, maxLength: 4 }), (before, block) => {
      expect(judge([...before, ...Array.from({ length: 5 }, () => block).flat()], limits).kind).toBe('end');
      const all = [...before, ...block].map((one, i) => ({ ...one, result: String(i) }));
      expect(judge(all, limits).kind).toBe('go');
    }),
  );
});

test('the order of keys does not make another call of it, anything else does', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (args, other) => {
      const turned = Object.fromEntries(Object.entries(args).toReversed());
      expect(canonical(turned)).toBe(canonical(args));
      if (JSON.stringify(other) !== JSON.stringify(args) && canonical(other) === canonical(args)) expect(typeof other).toBe('object');
    }),
  );
  const result = { content: [{ type: 'text', text: 'x' } as const] };
  const of = (name: string, args: Readonly<Record<string, unknown>>) => stepOf({ name, arguments: args }, result).call;
  expect(of('read', { a: 1, b: { c: 2, d: 3 } })).toBe(of('read', { b: { d: 3, c: 2 }, a: 1 }));
  expect(of('read', { a: 1 })).not.toBe(of('read', { a: '1' }));
  expect(stepOf({ name: 'a', arguments: {} }, { ...result, details: { ms: 1 } })).toEqual(
    stepOf({ name: 'a', arguments: {} }, { ...result, details: { ms: 2 } }),
  );
  expect(stepOf({ name: 'a', arguments: {} }, { ...result, isError: true }).result).not.toBe(
    stepOf({ name: 'a', arguments: {} }, result).result,
  );
});

test('the model is told at the third time what it repeats; at the fifth the reason to end is one a person understands', () => {
  const guard = openGuard(limits);
  const told = Array.from({ length: 5 }, () =>
    guard.saw({ name: 'read', arguments: { path: 'a' } }, { content: [{ type: 'text', text: 'same' }] }),
  );
  expect(told.map((note) => note !== undefined)).toEqual([false, false, true, true, false]);
  expect(told[2]).toMatch(/"read" 3 times in a row/);
  expect(guard.ended()).toMatch(/went round in a circle: the model called "read" 5 times in a row/);
  expect(openGuard(undefined).saw({ name: 'read', arguments: {} }, { content: [] })).toBeUndefined();
});
