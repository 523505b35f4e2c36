import { createHook } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** Finds what code left behind in this process: sockets, servers, watchers, children; timers, also unreferenced ones; listeners. */
export interface LeakCheck extends Disposable {
  /** What is there now counts as no leak. */
  mark(): void;
  /** What there is more of than at the mark, each in a line; empty where nothing leaked. Waits a while for what is about to go. */
  found(withinMs?: number): Promise<readonly string[]>;
}

type Tally = ReadonlyMap<string, number>;

/** Begin with it, so that timers are seen as they are made. */
export function leakCheck(): LeakCheck {
  const timers = new Map<number, string>();
  const hook = createHook({
    init(id, type) {
      const maker = type === 'Timeout' ? makerOf(stackHere()) : undefined;
      if (maker) timers.set(id, `timer of ${maker}`);
    },
    destroy: (id) => timers.delete(id),
  }).enable();
  const tally = (): Tally => {
    const active = process.getActiveResourcesInfo().filter((what) => what !== 'Timeout' && what !== 'Immediate');
    const listeners = process
      .eventNames()
      .flatMap((name) => process.listeners(name as 'exit').map(() => `listener of process "${String(name)}"`));
    const counted = Map.groupBy([...active, ...listeners, ...timers.values()], (what) => what);
    return new Map([...counted].map(([what, all]) => [what, all.length]));
  };
  let before = tally();
  return {
    mark: () => (before = tally()),
    async found(withinMs = 2000) {
      const deadline = performance.now() + withinMs;
      for (;;) {
        const more = [...tally()].filter(([what, count]) => count > (before.get(what) ?? 0));
        if (more.length === 0 || performance.now() > deadline)
          return more.map(([what, count]) => `${count - (before.get(what) ?? 0)} × ${what}`);
        await pause(10);
      }
    },
    [Symbol.dispose]: () => void hook.disable(),
  };
}

function stackHere(): readonly string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const { stack = '' } = new Error('here');
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split('\n').slice(1);
}

/** The file and line that made a timer; undefined where it is Node's own business, the test runner's or ours. */
function makerOf(stack: readonly string[]): string | undefined {
  const outside = stack.slice(2);
  const isOurs = outside.some((frame) => frame.includes(import.meta.filename));
  const maker = outside.find((frame) => !/\bnode:|\/node_modules\/|<anonymous>/.test(frame));
  const [, file, line] = /(\/[^():?]+)(?:\?[^:]*)?:(\d+):\d+\)?$/.exec(maker?.replace('file://', '') ?? '') ?? [];
  return isOurs || !file ? undefined : `${file}:${line}`;
}
