import { basename, dirname } from 'node:path';
import type { Host, Swap } from '../../kernel/index.ts';
import { isLibrary, openTraces, type Trace } from './traces.ts';

export interface Leak {
  readonly plugin: string;
  readonly what: string;
  /** `file:line` of the plugin's source. */
  readonly place: string;
}

/** What is live: by plugin its folder, and whether it holds leases. */
type Live = ReadonlyMap<string, { readonly folder: string; readonly isLeasing: boolean }>;

/**
 * Tells what the code of a plugin made and left behind, a while after its old instance was disposed. Of a plugin with leases
 * only once it is removed: what outlives a reload may be the lease's, and rightly so.
 */
export function openLeaks(found: (leak: Leak) => void, graceMs = 1000) {
  const traces = openTraces();
  const told = new WeakSet<Trace>();
  const waiting = new Set<NodeJS.Timeout>();
  let live: Live = new Map();

  function later(work: () => void) {
    const timer = setTimeout(() => (waiting.delete(timer), work()), graceMs).unref();
    waiting.add(timer);
  }

  function tell(folders: ReadonlyMap<string, string>, before: number) {
    const leaks = new Map<string, Leak>();
    for (const trace of traces.all()) {
      if (trace.made >= before || told.has(trace)) continue;
      const maker = makerOf(trace, folders);
      if (!maker) continue;
      told.add(trace);
      leaks.set(JSON.stringify(maker), maker);
    }
    for (const leak of leaks.values()) found(leak);
  }

  return {
    /** Call at each swap, at once: what was made before it began to be built is the old instances'. */
    swapped(host: Host, { generation, built, removed, ms }: Swap) {
      const before = performance.now() - ms - 5;
      const old = live;
      live = liveNow(host);
      const rebuilt = built.filter(({ plugin, why }) => why !== 'new' && !old.get(plugin)?.isLeasing).map(({ plugin }) => plugin);
      const folders = new Map([...rebuilt, ...removed].map((plugin) => [plugin, old.get(plugin)?.folder ?? '']));
      const isDisposed = () => host.inspect().retiring.every((one) => one.generation >= generation);
      const judge = () => later(() => tell(folders, before));
      const wait = (): void => (isDisposed() ? judge() : later(wait));
      if ([...folders.values()].some(Boolean)) wait();
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

function makerOf({ what, places }: Trace, folders: ReadonlyMap<string, string>): Leak | undefined {
  for (const [plugin, folder] of folders) {
    const isIn = (file: string) => folder !== '' && file.startsWith(`${folder}/`);
    const maker = places.find(({ file }) => isIn(file) || !isLibrary(file));
    if (maker && isIn(maker.file)) return { plugin, what, place: `${maker.file}:${maker.line}` };
  }
  return undefined;
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
