import { expect, test, vi } from 'vitest';
import type { Fault } from '../../../plugins/faults/contract.ts';
import { openLedger } from '../../../plugins/faults/ledger.ts';

function stage() {
  const told: Fault[] = [];
  let at = 0;
  let generation = 1;
  const ledger = openLedger({ generation: () => generation, changed: (fault) => told.push(fault), now: () => ++at, everyMs: 50 });
  return { ledger, told, swap: () => generation++ };
}
const thrown = (message: string, plugin = 'p', place = '/p/index.ts:5') => ({ plugin, code: 'UNCAUGHT_EXCEPTION', message, place });

test('what a plugin throws for ever is one fault with a count, told at once and then no more than once in a while', async () => {
  vi.useFakeTimers();
  try {
    const { ledger, told } = stage();
    for (let i = 1; i <= 1000; i++) ledger.note(thrown(`again at ${i}`));
    expect(told).toHaveLength(1);
    expect(ledger.list()).toMatchObject([{ count: 1000, message: 'again at 1000', first: 1, last: 1000 }]);
    vi.advanceTimersByTime(50);
    expect(told.map(({ id, count }) => [id, count])).toEqual([
      ['f1', 1],
      ['f1', 1000],
    ]);
    await ledger[Symbol.asyncDispose]();
  } finally {
    vi.useRealTimers();
  }
});

test('a fault without a place is the same where only numbers differ; leaks of one line differ by what they are', () => {
  const { ledger } = stage();
  for (const message of ['took 10 ms', 'took 12 ms', 'broke']) ledger.note({ plugin: 'p', code: 'X', message });
  for (const message of ['left a timer behind', 'left a server behind'])
    ledger.note({ plugin: 'p', code: 'PLUGIN_LEAK', message, place: 'f:1' });
  expect(ledger.list().map(({ message, count }) => [message, count])).toEqual([
    ['left a server behind', 1],
    ['left a timer behind', 1],
    ['broke', 1],
    ['took 12 ms', 2],
  ]);
});

test('a fault bears the generation in which it last happened', () => {
  const { ledger, swap } = stage();
  ledger.note(thrown('a'));
  swap();
  ledger.note(thrown('b', 'other'));
  expect(ledger.list().map(({ generation }) => generation)).toEqual([2, 1]);
  ledger.note(thrown('a'));
  expect(ledger.list()).toMatchObject([{ plugin: 'p', generation: 2, count: 2 }, { plugin: 'other' }]);
});

test('the list is bounded, and one plugin’s noise does not push out another’s', () => {
  const { ledger } = stage();
  ledger.note(thrown('quiet', 'quiet'));
  for (let i = 0; i < 500; i++) ledger.note(thrown('x', 'noisy', `/noisy/index.ts:${i}`));
  expect(ledger.list()).toHaveLength(21);
  expect(ledger.list().at(-1)).toMatchObject({ plugin: 'quiet' });
  for (let i = 0; i < 500; i++) ledger.note(thrown('x', `many-${i}`));
  expect(ledger.list()).toHaveLength(200);
});
