import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { Payload } from '../../../plugins/outbox/contract.ts';
import type { AssistantMessage, Entry, Message } from '../../../plugins/sessions/contract.ts';
import { interrupted } from '../../../plugins/sessions/repair.ts';
import { isWhole } from '../../support/series.ts';
import { allDone, bootForCrash, type ScenarioName, scenarios } from '../../support/crash-scenario.ts';

const child = join(import.meta.dirname, '../../support/crash-child.ts');
const cache = mkdtempSync(join(tmpdir(), 'instar-compiled-'));
afterAll(() => rmSync(cache, { recursive: true }));

/** A state folder, and processes that work in it until a write kills them. */
function place() {
  const home = mkdtempSync(join(tmpdir(), 'instar-crash-'));
  const accepted: string[] = [];
  return {
    home,
    accepted,
    /** Undefined where it was killed. */
    async work(scenario: ScenarioName | '', nth = 0, isTorn = false): Promise<readonly string[] | undefined> {
      const args = [child, home, scenario, String(nth), isTorn ? 'torn' : ''];
      const env = { ...process.env, NODE_COMPILE_CACHE: cache };
      const worker = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      let out = '';
      worker.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      const signal = await new Promise((resolve) => worker.once('close', (_, by) => resolve(by)));
      const facts = out.split('\n').flatMap((line) => (line ? [JSON.parse(line) as { accepted?: string; writes?: string[] }] : []));
      accepted.push(...facts.flatMap((fact) => fact.accepted ?? []));
      const writes = facts.find((fact) => fact.writes)?.writes;
      expect(signal).toBe(writes ? null : 'SIGKILL');
      return writes;
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true }),
  };
}
type Place = ReturnType<typeof place>;

/** A start as after any crash, here in this process. */
async function restart({ home }: Place) {
  await using next = await bootForCrash(home);
  await allDone(next);
}

const isFinal = ({ message }: Entry) => message.role === 'assistant' && !message.content.some(({ type }) => type === 'toolCall');
const wordsOf = ({ message }: Entry) =>
  (message as AssistantMessage).content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const spoken = ({ role, content }: Message) => ({ role, content });

/** All that is on disk, in the terms of what was promised. */
function account({ home }: Place) {
  using db = new DatabaseSync(join(home, 'state.db'), { readOnly: true });
  const items = db.prepare('SELECT * FROM inbox ORDER BY rowid').all();
  const sent = db.prepare('SELECT * FROM outbox').all();
  const folder = join(home, 'agents/main/sessions');
  const lines = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').trimEnd().split('\n'))
    .map((line) => JSON.parse(line) as Entry);
  const effects = existsSync(join(home, 'effects')) ? readFileSync(join(home, 'effects'), 'utf8').length / 2 : 0;
  return { items, sent, lines, effects };
}

/** What may become of an arrival beside being answered: refused or stopped, if the process lived long enough for it. */
const otherEnds: Partial<Record<ScenarioName, Readonly<Record<number, string>>>> = {
  'a message that interrupts': { 0: 'cancelled' },
  'one message too many': { 3: 'refused' },
  'a stop': { 0: 'cancelled', 1: 'cancelled' },
  'a word to the queue, and a new conversation': { 1: 'cancelled' },
};

/** Every item has its input once and its answer once, and each answer was sent; calls have one result each. */
function verify(at: Place, scenario: ScenarioName) {
  const { items, sent, lines, effects } = account(at);
  const { arrivals } = scenarios[scenario];
  const ids = items.map((item) => String(item.item_id));
  expect(items).toHaveLength(arrivals.length);
  expect(ids).toEqual(expect.arrayContaining(at.accepted));
  expect(sent.map(({ item_id }) => String(item_id)).toSorted()).toEqual(ids.toSorted());

  const [header, ...entries] = lines;
  if (header) expect(header).toMatchObject({ type: 'session', version: 3 });
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.map(({ id }) => id)].slice(0, -1).slice(0, entries.length));
  expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  for (const [i, arrival] of arrivals.entries()) {
    const own = entries.filter(({ itemId }) => itemId === ids[i]);
    const row = sent.find(({ item_id }) => item_id === ids[i]);
    const told = JSON.parse(String(row?.payloads)) as readonly Payload[];
    const state = String(items[i]?.state);
    if (state === otherEnds[scenario]?.[i]) {
      expect(row?.state).toBe('delivered');
      expect(own.length).toBeLessThanOrEqual(1);
      if (state === 'refused') expect([own, told]).toMatchObject([[], [{ isError: true }]]);
      continue;
    }
    expect(state).toBe('done');
    if ((arrival.content as string).startsWith('/')) {
      expect([own, told, row?.state]).toEqual([[], [{ text: expect.any(String) }], 'delivered']);
      continue;
    }
    const { history = [], content } = arrival;
    expect(own.map(({ message }) => spoken(message))).toEqual([...history.map(spoken), { role: 'user', content }]);
    const lead = own.at(-1)?.joins ?? ids[i];
    const turn = entries.slice(entries.findLastIndex(({ itemId }) => itemId === lead) + 1);
    const to = turn.findIndex(({ itemId, joins }) => itemId !== undefined && joins !== lead);
    const finals = turn.slice(0, to < 0 ? undefined : to).filter(isFinal);
    expect(finals.map(wordsOf)).toEqual(told.map(({ text }) => text));
    expect(finals).toHaveLength(1);
    const newest = entries.findLast(({ itemId, joins }) => itemId === lead || joins === lead);
    expect(row?.state).toBe(newest?.itemId === ids[i] ? 'delivered' : 'joined'); // one answer is sent once
  }

  const messages = entries.map(({ message }) => message);
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.filter(({ type }) => type === 'toolCall') : [],
  );
  const results = messages.flatMap((message) => (message.role === 'toolResult' ? message.content : []));
  expect(results).toHaveLength(calls.length);
  expect(effects).toBeLessThanOrEqual(calls.length);
  return { effects, results: results.map((result) => (result as { readonly text: string }).text) };
}

const names = Object.keys(scenarios) as readonly ScenarioName[];

test.each(names)('the order of writes is the contract: %s', async (scenario) => {
  using at = place();
  expect(await at.work(scenario)).toEqual(scenarios[scenario].writes);
  verify(at, scenario);
});

const allSteps = names.flatMap((scenario) => scenarios[scenario].writes.map((write, i) => ({ scenario, write, nth: i + 1 })));
/** The two plain scenarios at each step; of the others every fifth, unless all are wanted (`npm run test:all`). */
const steps = allSteps.filter(({ scenario }, i) => isWhole || names.indexOf(scenario) < 2 || i % 5 === 0);

test.concurrent.each(steps)(
  '$scenario: SIGKILL after write $nth ($write) loses and doubles nothing',
  { timeout: 60_000 },
  async ({ scenario, nth, write }) => {
    using at = place();
    expect(await at.work(scenario, nth)).toBeUndefined();
    await restart(at);
    const { results } = verify(at, scenario);
    if (write === 'file: effects') expect(results).toEqual([interrupted]); // it ran, and was not run again
    const before = account(at);
    await restart(at);
    expect(account(at)).toEqual(before);
  },
);

const torn = steps.filter(({ scenario, write }) => scenario === names[0] && write.startsWith('transcript'));

test.concurrent.each(torn)(
  '$scenario: SIGKILL within write $nth ($write) loses and doubles nothing',
  { timeout: 60_000 },
  async ({ scenario, nth }) => {
    using at = place();
    expect(await at.work(scenario, nth, true)).toBeUndefined();
    await restart(at);
    verify(at, scenario);
  },
);

test('killed again and again, after every fourth write since each start', { timeout: 60_000 }, async () => {
  using at = place();
  const scenario = 'a tool call, and a message that waits';
  let starts = 1;
  let writes = await at.work(scenario, 4);
  for (; !writes && starts < 20; starts++) writes = await at.work('', 4);
  expect(starts).toBeGreaterThan(3);
  verify(at, scenario);
});
