import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { tempHome } from '../support/instar.ts';
import { Ledger } from './ledger.ts';
import { memoryTrend } from './memory.ts';

const sample = (turns: number, leakPerTurn: number) => {
  const garbage = (turns % 700) * 100_000; // up, and down again at a collection
  return { turns, rss: 3e8 + leakPerTurn * turns, used: 5e7 + garbage + leakPerTurn * turns };
};
const run = (leak: number) => memoryTrend(Array.from({ length: 600 }, (_, i) => sample(i * 90, leak)));

test('garbage that is collected is no leak; what stays is found, per turn', () => {
  expect(Math.abs(run(0).bytesPerTurn)).toBeLessThan(50);
  expect(run(1_000).bytesPerTurn).toBeGreaterThan(900);
  expect(run(1_000).bytesPerTurn).toBeLessThan(1_100);
  expect(run(0).rssGrowth).toBe(0);
  expect(run(2_000).rssGrowth).toBeGreaterThan(0.1);
});

const said = (mark: string) => ({ type: 'message_end', data: { message: { role: 'assistant', content: mark } } });
const ended = (mark: string) => ({ type: 'agent_end', data: { payloads: [{ text: mark }] } });
const line = (role: string, mark: string) => JSON.stringify({ type: 'message', message: { role, content: mark } });

/** Two messages were asked; what the wire, the store and the transcript tell of them. */
function faultsOf(wire: readonly object[], done: readonly string[], transcript: readonly string[]) {
  using place = tempHome();
  const ledger = new Ledger();
  ledger.ask('MARK-0_0');
  ledger.ask('MARK-0_1');
  for (const event of wire) ledger.hear(event, () => true);
  using db = new DatabaseSync(join(place.home, 'state.db'));
  db.exec('CREATE TABLE inbox (id TEXT, state TEXT); CREATE TABLE outbox (item_id TEXT, state TEXT)');
  for (const id of ['a', 'b']) db.prepare("INSERT INTO inbox VALUES (?, 'done')").run(id);
  for (const id of done) db.prepare("INSERT INTO outbox VALUES (?, 'delivered')").run(id);
  const folder = join(place.home, 'agents/main/sessions');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 's.jsonl'), [`{"type":"session"}`, ...transcript, ''].join('\n'));
  return ledger.check(place.home);
}

const wire = ['MARK-0_0', 'MARK-0_1'].flatMap((mark) => [said(mark), ended(mark)]);
const file = ['MARK-0_0', 'MARK-0_1'].flatMap((mark) => [line('user', mark), line('assistant', mark)]);

test.each<[string, Parameters<typeof faultsOf>, RegExp | undefined]>([
  ['all is well', [wire, ['a', 'b'], file], undefined],
  ['an answer that came twice', [[...wire, ended('MARK-0_1')], ['a', 'b'], file], /1 message\(s\) were answered not exactly once.*ended 2/],
  ['an answer that never came', [wire.slice(0, 2), ['a', 'b'], file], /not exactly once.*ended 0/],
  ['an answer without its question', [[...wire, ended('sorry')], ['a', 'b'], file], /answer to nothing/],
  ['an answer that was not delivered', [wire, ['a'], file], /1 answer\(s\) delivered, of 2/],
  ['an answer that was delivered twice', [wire, ['a', 'b', 'b'], file], /3 answer\(s\) in the outbox, of 2/],
  ['a message that is in no transcript', [wire, ['a', 'b'], file.slice(0, 2)], /1 message\(s\) are in no transcript/],
  ['a message that was written twice', [wire, ['a', 'b'], [...file, ...file.slice(2)]], /MARK-0_1 is there twice/],
  ['an answer in the wrong place', [wire, ['a', 'b'], file.toReversed()], /stands where it should not/],
])('the ledger of the soak: %s', (_, given, expected) => {
  if (expected) expect(faultsOf(...given).join('\n')).toMatch(expected);
  else expect(faultsOf(...given)).toEqual([]);
});
