import { basename, dirname } from 'node:path';
import type { Host, Swap } from '../../kernel/index.ts';
import { leaksAmong, type Suspect } from './makers.ts';
import { openTraces, type Trace } from './traces.ts';

export interface Leak {
  readonly plugin: string;
  readonly what: string;
  /** `file:line` of the plugin's source. */
  readonly place?: string;
}

/** The process is made of its files too: the listeners there are no instance's. */
const processItself = 'cli';

/** What is live: by plugin its folder, and whether it holds leases. */
type Live = ReadonlyMap<string, { readonly folder: string; readonly isLeasing: boolean }>;

/** Tells what the code of a plugin made and left behind, a while after its old instance was disposed. */
export function openLeaks(found: (leak: Leak) => void, graceMs = 1000) {
  const traces = openTraces();
  const told = new WeakSet<Trace>();
  const waiting = new Set<NodeJS.Timeout>();
  let live: Live = new Map();

  function later(work: () => void) {
    const timer = setTimeout(() => (waiting.delete(timer), work()), graceMs).unref();
    waiting.add(timer);
  }

  function tell(suspects: ReadonlyMap<string, Suspect>, before: number) {
    const old = traces.all().filter(({ made }) => made < before);
    const leaks = new Map<string, Leak>();
    for (const [trace, leak] of leaksAmong(old, suspects)) {
      if (!told.has(trace)) leaks.set(JSON.stringify(leak), leak);
      told.add(trace);
    }
    for (const leak of leaks.values()) found(leak);
  }

  return {
    /** Call at each swap: what was made before it began to be built is the old instances'. */
    swapped(host: Host, { generation, built, removed, began }: Swap) {
      const old = live;
      live = liveNow(host);
      const suspects = new Map<string, Suspect>();
      for (const { plugin, why } of built) {
        const { folder = '', isLeasing = false } = old.get(plugin) ?? {};
        if (why !== 'new' && plugin !== processItself) suspects.set(plugin, { folder, keepsLeases: isLeasing });
      }
      for (const plugin of removed) suspects.set(plugin, { folder: old.get(plugin)?.folder ?? '', keepsLeases: false });
      const isDisposed = () => host.inspect().retiring.every((one) => one.generation >= generation);
      const judge = () => later(() => tell(suspects, began));
      const wait = (): void => (isDisposed() ? judge() : later(wait));
      if (suspects.size > 0) wait();
    },
    /** Call once live; again is no matter. */
    start(host: Host) {
      if (live.size === 0) live = liveNow(host);
    },
    async [Symbol.asyncDispose]() {
      for (const timer of waiting) clearTimeout(timer);
      traces[Symbol.dispose]();
    },
  };
}

function liveNow(host: Host): Live {
  const folders = host.sources().plugins.map((file) => dirname(file));
  return new Map(
    host.inspect().instances.map(({ plugin, source, leases }) => {
      const folder = source === 'bundled' ? folders.find((one) => basename(one) === plugin) : dirname(source);
      return [plugin, { folder: folder ?? '', isLeasing: leases.length > 0 }];
    }),
  );
}
