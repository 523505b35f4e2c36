import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Leasable } from '../../kernel/index.ts';
import type { LoopDelay, Memory, Vitals, VitalsWindow } from './contract.ts';

const resolution = 20;
const windowMs = 10_000;
const kept = 60;

/**
 * One per process: a reload neither forgets nor measures twice. Measures from the first `start` on, in Node's own counters:
 * nothing of ours runs between two windows, and an idle process wakes up no more often than for one counter.
 */
export function openWatch(everyMs: number = windowMs): Vitals & Leasable & { start(): void } {
  const always = monitorEventLoopDelay({ resolution });
  const windows: VitalsWindow[] = [];
  let [open, ending]: [open?: Counter, ending?: Counter] = [];
  let timer: NodeJS.Timeout | undefined;

  const endWindow = () => {
    if (ending) windows.push(ending.close());
    if (windows.length > kept) windows.shift();
    ending = undefined;
  };
  /** A counter sees nothing before its first tick, so the old one goes on until the new one sees. */
  const turnWindow = () => {
    ending = open;
    open = openCounter();
    setTimeout(endWindow, 2 * resolution).unref();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    always.disable();
    for (const counter of [open, ending]) counter?.close();
    [open, ending] = [undefined, undefined];
  };
  const start = () => {
    if (timer) return;
    always.enable();
    open = openCounter();
    timer = setInterval(turnWindow, everyMs).unref();
  };

  return {
    start,
    read: () => ({ memory: memory(), loop: delayOf(always), windows: [...windows] }),
    retire: stop,
    resume: start,
    async [Symbol.asyncDispose]() {
      stop();
    },
  };
}

interface Counter {
  close(): VitalsWindow;
}

function openCounter(): Counter {
  const delay = monitorEventLoopDelay({ resolution });
  const before = used();
  delay.enable();
  return {
    close() {
      delay.disable();
      return { at: Date.now(), ...difference(before, used()), loop: delayOf(delay), memory: memory() };
    },
  };
}

/** A counter holds the time from tick to tick, which is its resolution where nothing is late. */
function delayOf(counter: ReturnType<typeof monitorEventLoopDelay>): LoopDelay {
  if (counter.count === 0) return { p50: 0, p99: 0, max: 0 };
  const late = (nanoseconds: number) => Math.max(0, Math.round(nanoseconds / 1e5 - resolution * 10) / 10);
  return { p50: late(counter.percentile(50)), p99: late(counter.percentile(99)), max: late(counter.max) };
}

function memory(): Memory {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  return { rss, heapTotal, heapUsed, external };
}

/** What grows all the time, in milliseconds. */
function used() {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1000, waitedMs: waited() };
}

function difference(before: ReturnType<typeof used>, now: ReturnType<typeof used>) {
  const since = (key: 'ms' | 'cpuMs') => Math.round(now[key] - before[key]);
  const waitedMs = Math.round((now.waitedMs ?? Number.NaN) - (before.waitedMs ?? 0));
  return { ms: since('ms'), cpuMs: since('cpuMs'), ...(Number.isFinite(waitedMs) && { waitedMs }) };
}

/** Linux counts, for the main thread: nanoseconds it ran, nanoseconds it was ready and did not run, how often it ran. */
function waited(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return undefined; // another system, or one that does not count
  }
}
