/** `node test/bench/crowd.ts [seconds]`: 200 sessions at once, beside the floor: as fast as they are answered, and at a model's pace. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VitalsReading } from '../../plugins/vitals/contract.ts';
import { atOnce, modelMs, type Pace, realistic, seeded } from '../soak/pace.ts';
import { openSocket } from '../soak/socket.ts';
import { floor, good, instar, token } from './gateways.ts';
import { startMock } from './mock-process.ts';
import { ask, cpuMs, type Gateway, residentMB, start, waitedMs } from './process.ts';

const sessions = 200;
const seconds = Number(process.argv[2] ?? 20);
const turnsPerSession = 20;
const work = mkdtempSync(join(tmpdir(), 'instar-crowd-'));

interface Figures {
  readonly perSecond: number;
  readonly median: number;
  readonly p99: number;
  readonly delay: number;
  readonly waited: number;
  readonly cpu: number;
  readonly memory: number;
}

/** All clients at once, each with one message under way. Times are what the model did not take. */
async function drive(gateway: Gateway, pace: Pace): Promise<Pick<Figures, 'perSecond' | 'median' | 'p99'> & { readonly turns: number }> {
  const began = performance.now();
  const random = seeded(1);
  const between = ([least, most]: Pace['firstMs']) => Math.round(least + random() * (most - least));
  const ms: number[] = [];
  const client = async (i: number) => {
    for (let turn = 0; performance.now() - began < seconds * 1000; turn++) {
      const [first, every] = [between(pace.firstMs), Math.round(between(pace.streamMs) / pace.tokens)];
      const text = `[[chunks:${pace.tokens} first=${first} every=${every}]]`;
      const reply = await good(gateway, text, `${i}-${Math.floor(turn / turnsPerSession)}`);
      ms.push(reply.ms - modelMs(first, every, pace.tokens));
    }
  };
  await Promise.all(Array.from({ length: sessions }, (_, i) => client(i)));
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (q: number) => sorted[Math.floor(q * (sorted.length - 1))] ?? Number.NaN;
  return { turns: ms.length, perSecond: ms.length / ((performance.now() - began) / 1000), median: at(0.5), p99: at(0.99) };
}

/** A gateway of its own, as fresh as the other: what is measured since its start is of this load. */
async function measure(gateway: Gateway, pace: Pace, delayOf: () => Promise<number>): Promise<Figures> {
  await using running = await start(gateway, join(work, `${gateway.name}-${pace.tokens}-${pace.firstMs[1]}`));
  // Connections first: Node takes one in per turn of its event loop, and those turns are long under this load.
  await Promise.all(Array.from({ length: sessions }, () => ask('GET', `${gateway.url}/healthz`)));
  const now = () => ({ at: performance.now(), cpu: cpuMs(running.pid), waited: waitedMs(running.pid) });
  const before = now();
  const { turns, ...driven } = await drive(gateway, pace);
  const after = now();
  const cpu = (after.cpu - before.cpu) / turns;
  const waited = (100 * (after.waited - before.waited)) / (after.at - before.at);
  return { ...driven, cpu, waited, delay: await delayOf(), memory: residentMB(running.pid) };
}

async function vitals({ url }: Gateway): Promise<number> {
  const socket = await openSocket({ url, token }, () => {});
  const { loop } = await socket.ask<VitalsReading>('vitals.read');
  socket.close();
  return loop.p99;
}

async function both(model: string, pace: Pace, name: string) {
  const bare = await floor(model);
  const low = await measure(bare, pace, async () => Number((await ask('GET', `${bare.url}/delay`)).text));
  const ours = await instar(model, join(work, name), join(work, `${name}.json5`), sessions * 2);
  return { low, ours: await measure(ours, pace, () => vitals(ours)) };
}

const number = (value: number) => (Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1));

function rows(
  { low, ours }: Awaited<ReturnType<typeof both>>,
  when: string,
  bars: Partial<Record<keyof Figures, readonly [string, boolean]>>,
) {
  const names = {
    perSecond: `${when}: turns/s`,
    median: '… answer, median (ms)',
    p99: '… answer, p99 (ms)',
    delay: '… event loop delay p99 (ms)',
    waited: '… kept waiting by other processes (% of the time)',
    cpu: '… CPU per turn (ms)',
    memory: '… memory at the end (MB RSS)',
  };
  return (Object.keys(names) as (keyof Figures)[]).map((key) => {
    const [bar = '', met] = bars[key] ?? [];
    const ratio = low[key] > 0.1 ? (ours[key] / low[key]).toFixed(2) : '';
    const verdict = met === undefined ? '' : met ? 'yes' : '**no**';
    return `| ${names[key]} | ${number(ours[key])} | ${number(low[key])} | ${ratio} | ${bar} | ${verdict} |`;
  });
}

await using mock = await startMock();
const fast = await both(mock.url, atOnce, 'fast');
const paced = await both(mock.url, realistic, 'paced');
const lines = [
  ...rows(fast, 'as fast as answered', { perSecond: ['≥ ¼ of floor', fast.ours.perSecond >= fast.low.perSecond / 4] }),
  ...rows(paced, "at a model's pace", {
    perSecond: ['≥ 0.9 × floor', paced.ours.perSecond >= 0.9 * paced.low.perSecond],
    delay: ['< 50 ms', paced.ours.delay < 50],
  }),
];
console.log(['| 200 sessions | Instar | Floor | Ratio | Bar | Met |', '|---|--:|--:|--:|---|---|', ...lines].join('\n'));
rmSync(work, { recursive: true, force: true });
