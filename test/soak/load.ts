/** 200 sessions at once on the real product, each with one message in flight. `npm run soak -- load` runs 20 minutes; the tests some turns. */
import { writeFileSync } from 'node:fs';
import { startMock } from '../bench/mock-process.ts';
import type { VitalsReading, VitalsWindow } from '../../plugins/vitals/contract.ts';
import { startGateway, tempHome, withMock } from '../support/instar.ts';
import { Ledger } from './ledger.ts';
import { modelMs, type Pace, seeded } from './pace.ts';
import { openSocket, type Socket } from './socket.ts';

export interface LoadOptions {
  readonly sessions: number;
  /** Ends by the clock, or after as many turns of each session. */
  readonly seconds?: number;
  readonly turnsEach?: number;
  readonly pace: Pace;
  readonly tell?: (line: string) => void;
}

export interface LoadResult {
  readonly turns: number;
  readonly seconds: number;
  /** What must stay empty. */
  readonly faults: readonly string[];
  /** Milliseconds from sending a message to its answer, beyond what the model was told to take. */
  readonly waits: readonly number[];
  /** Of the gateway itself, as `instar status` tells it. */
  readonly vitals: VitalsReading;
  readonly windows: readonly VitalsWindow[];
  /** Every second. */
  readonly heap: readonly HeapSample[];
}

export interface HeapSample {
  readonly turns: number;
  readonly rss: number;
  readonly used: number;
}

const sockets = 4;
/** A session begins anew after as many turns: memory is to tell of the gateway, not of long histories. */
const turnsPerSession = 20;

export async function load(options: LoadOptions): Promise<LoadResult> {
  await using mock = await startMock();
  using place = tempHome();
  const config = withMock(mock.url, place.home, {
    agents: { defaults: { workspace: `${place.home}/ws`, model: 'mock/m', maxConcurrent: 1000 } },
  });
  writeFileSync(place.file, JSON.stringify(config));
  await using gateway = await startGateway(place.home);
  const ledger = new Ledger();
  const open = await Promise.all(
    Array.from({ length: sockets }, (_, i) =>
      openSocket(
        gateway,
        (why) => ledger.faults.push(`socket ${i} was dropped: ${why}`),
        (event) => ledger.hear(event, (mark) => socketOf(mark) === i),
      ),
    ),
  );
  const crowd = openCrowd(options, open, ledger);
  const watch = observe(open[0] as Socket, () => crowd.waits.length, options.tell);
  await crowd.ended;
  const { vitals, windows, heap } = await watch.end();
  for (const socket of open) socket.close();
  const complaints = gateway.out.stderr;
  gateway.child.kill('SIGTERM');
  const { code } = await gateway.ended;
  const faults = [...ledger.check(place.home)];
  const requests = (await mock.requests()).at(-1)?.number;
  if (requests !== ledger.asked) faults.push(`the model was asked ${requests} times for ${ledger.asked} messages`);
  if (code !== 0) faults.push(`the gateway ended with ${code}`);
  if (complaints) faults.push(`the gateway complained: ${complaints.slice(0, 300)}`);
  return { turns: crowd.waits.length, seconds: crowd.seconds(), faults, waits: crowd.waits, vitals, windows, heap };
}

const socketOf = (mark: string) => Number(/\d+/.exec(mark)?.[0]) % sockets;

/** All sessions, each of which sends its next message once the last one is answered. */
function openCrowd({ sessions, seconds = Infinity, turnsEach = Infinity, pace }: LoadOptions, open: readonly Socket[], ledger: Ledger) {
  const waits: number[] = [];
  const began = performance.now();
  let ended = began;
  const random = seeded(1);
  const between = ([least, most]: readonly [number, number]) => Math.round(least + random() * (most - least));
  const one = async (i: number) => {
    // Not all in one moment: 200 people do not begin together.
    await new Promise((resolve) => setTimeout(resolve, between([0, pace.firstMs[1] + pace.streamMs[1]])));
    for (let turn = 0; turn < turnsEach && performance.now() - began < seconds * 1000; turn++) {
      const mark = `MARK-${i}_${turn}`;
      const [first, every] = [between(pace.firstMs), Math.round(between(pace.streamMs) / pace.tokens)];
      ledger.ask(mark);
      const sent = performance.now();
      await (open[socketOf(mark)] as Socket)
        .turn(
          `agent:main:load-${i}-${Math.floor(turn / turnsPerSession)}`,
          `${mark} [[chunks:${pace.tokens} first=${first} every=${every}]]`,
        )
        .catch((error: Error) => ledger.faults.push(`${mark}: ${error.message}`));
      ended = performance.now();
      waits.push(ended - sent - modelMs(first, every, pace.tokens, 1));
    }
  };
  return {
    waits,
    seconds: () => (ended - began) / 1000,
    ended: Promise.all(Array.from({ length: sessions }, (_, i) => one(i))),
  };
}

/** Asks the gateway each second how it is; a window that it forgets meanwhile is kept here. */
function observe(socket: Socket, turns: () => number, tell: (line: string) => void = () => {}) {
  const heap: HeapSample[] = [];
  const windows = new Map<number, VitalsWindow>();
  const look = async () => {
    const vitals = await socket.ask<VitalsReading>('vitals.read');
    const { rss, heapUsed: used } = vitals.memory;
    heap.push({ turns: turns(), rss, used });
    for (const window of vitals.windows) {
      if (!windows.has(window.at)) tell(`${turns()} turns; ${lineOf(window)}`);
      windows.set(window.at, window);
    }
    return vitals;
  };
  const timer = setInterval(() => void look().catch(() => {}), 1000);
  return {
    async end() {
      clearInterval(timer);
      return { vitals: await look(), windows: [...windows.values()], heap };
    },
  };
}

const mb = (bytes: number) => Math.round(bytes / 1024 / 1024);

const lineOf = ({ loop, memory, cpuMs, ms, waitedMs = 0 }: VitalsWindow) => {
  const share = (of: number) => `${Math.round((100 * of) / ms)} %`;
  const memories = `RSS ${mb(memory.rss)} MB, heap ${mb(memory.heapUsed)} MB`;
  const processor = `CPU ${share(cpuMs)}, kept waiting ${share(waitedMs)}`;
  return `loop delay p50 ${loop.p50} p99 ${loop.p99} max ${loop.max} ms; ${memories}; ${processor}`;
};
