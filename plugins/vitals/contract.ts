import { service } from '../../kernel/index.ts';

/** How late work came because the event loop was busy with other work, in milliseconds. Zero is a loop that waits for work. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Bytes. */
export interface Memory {
  /** What the operating system holds for the process. */
  readonly rss: number;
  readonly heapTotal: number;
  readonly heapUsed: number;
  readonly external: number;
}

/** A stretch of time that is over. */
export interface VitalsWindow {
  /** Its end, in milliseconds since 1970. */
  readonly at: number;
  readonly ms: number;
  readonly loop: LoopDelay;
  /** At its end. */
  readonly memory: Memory;
  /** Milliseconds of processor time that the process took in it, all its threads together. */
  readonly cpuMs: number;
  /** Milliseconds in which the main thread had work and other processes had the processor: what is late then is not ours. Linux only. */
  readonly waitedMs?: number;
}

/** WebSocket method `vitals.read {}` → `VitalsReading`: how busy and how large the gateway's process is. */
export interface VitalsReading {
  readonly memory: Memory;
  /** Since the process went live. */
  readonly loop: LoopDelay;
  /** Ten seconds each, the newest last; ten minutes of them. */
  readonly windows: readonly VitalsWindow[];
}

export interface Vitals {
  read(): VitalsReading;
}

export const Vitals = service<Vitals>('vitals');
