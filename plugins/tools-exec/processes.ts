import { type Leasable, messageOf } from '../../kernel/index.ts';
import type { Ended, Running } from './contract.ts';
import { Output } from './output.ts';

/** A command in the background. */
export interface Background {
  readonly id: string;
  readonly sessionKey: string;
  readonly command: string;
  readonly cwd: string;
  readonly startedAt: number;
  /** Whether it runs in the sandbox: what it may is a fact of its start; what may be written to it is asked each time. */
  readonly isConfined: boolean;
  readonly output: Output;
  /** Output that no poll has given yet. */
  fresh: Output;
  readonly running: Pick<Running, 'write' | 'close' | 'kill' | 'ended'>;
  ended?: Ended;
}

/** Ended ones stay readable; so many of a session. */
const kept = 20;
export const maxRunning = 16;

/** What runs in the background, over all generations. A lease: a reload stops nothing, the gateway's end stops all. */
export interface Processes extends Leasable {
  readonly signal: AbortSignal;
  nextId(): string;
  add(one: Background): void;
  /** Those of one session: nobody reaches another's. */
  of(sessionKey: string): readonly Background[];
  remove(id: string): void;
}

export function openProcesses(): Processes {
  const all = new Map<string, Background>();
  const stop = new AbortController();
  let count = 0;
  const of = (sessionKey: string) => [...all.values()].filter((one) => one.sessionKey === sessionKey);
  return {
    signal: stop.signal,
    nextId: () => `p${++count}`,
    of,
    add(one) {
      all.set(one.id, one);
      const over = of(one.sessionKey).filter(({ ended }) => ended);
      for (const { id } of over.slice(0, Math.max(0, over.length - kept))) all.delete(id);
      void one.running.ended
        .then((ended) => (one.ended = ended))
        .catch((cause: unknown) => {
          // Nobody awaits it any more: who polls is told why.
          const line = Buffer.from(`[not run further: ${messageOf(cause)}]\n`);
          for (const output of [one.output, one.fresh]) output.push(line);
          one.ended = { exitCode: undefined, why: 'killed', leftovers: false };
        });
    },
    remove: (id) => void all.delete(id),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the gateway stops'));
      const running = [...all.values()].filter(({ ended }) => !ended);
      for (const { running: one } of running) one.kill();
      await Promise.all(running.map(({ running: one }) => one.ended.catch(() => {})));
    },
  };
}
