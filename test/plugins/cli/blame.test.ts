import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KernelError } from '../../../kernel/index.ts';
import { blame } from '../../../plugins/cli/blame.ts';
import { openRepeats } from '../../../plugins/cli/repeats.ts';

const folders = new Map([['/home/a/plugins/mine', 'mine']]);
const web = join(import.meta.dirname, '../../../plugins/web');
const error = (stack: readonly string[], facts = {}) =>
  Object.assign(new Error('x'), { stack: ['Error: x', ...stack.map((line) => `    at ${line}`)].join('\n') }, facts);

test.each<[string, unknown, string | undefined, object | undefined]>([
  [
    'its innermost file',
    error(['f (/home/a/plugins/mine/deep/a.ts:3:9)', 'g (/home/a/plugins/mine/index.ts:1:1)']),
    'x',
    { plugin: 'mine', place: '/home/a/plugins/mine/deep/a.ts:3' },
  ],
  [
    'a file by its URL',
    error(['async file:///home/a/plugins/mine/a%20b.ts:3:9']),
    undefined,
    { plugin: 'mine', place: '/home/a/plugins/mine/a b.ts:3' },
  ],
  ['a bundled plugin’s file', error([`f (${web}/assets.ts:7:1)`]), undefined, { plugin: 'web', place: `${web}/assets.ts:7` }],
  [
    'its library’s caller',
    error(['f (/home/a/plugins/mine/node_modules/x/i.js:1:1)', '/home/a/plugins/mine/index.ts:2:2']),
    undefined,
    { plugin: 'mine', place: '/home/a/plugins/mine/index.ts:2' },
  ],
  ['what it says of itself', new KernelError('X', 'x', { plugin: 'said' }), 'other', { plugin: 'said' }],
  [
    'the stack of its cause',
    new Error('y', { cause: error(['/home/a/plugins/mine/index.ts:2:2']) }),
    undefined,
    { plugin: 'mine', place: '/home/a/plugins/mine/index.ts:2' },
  ],
  ['whoever began it, without a stack', 'a text', 'mine', { plugin: 'mine' }],
  ['nobody, where nothing tells', error(['connect (node:net:1:1)', 'f (/home/a/plugins/mine-too/index.ts:1:1)']), undefined, undefined],
])('a failure is blamed on %s', (_, thrown, origin, expected) => {
  expect(blame(thrown, folders, origin)).toEqual(expected);
});

test('of repeats the first, the 10th and the 100th are told, each key for itself', () => {
  const isTold = openRepeats(2);
  const told = Array.from({ length: 150 }, () => isTold('a')).filter(Boolean);
  expect(told).toEqual([1, 10, 100]);
  expect(isTold('b')).toBe(1);
  isTold('c'); // the oldest is forgotten
  expect(isTold('a')).toBe(1);
});
