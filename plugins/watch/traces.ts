import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { findSourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CallSiteObject, getCallSites } from 'node:util';
import { type Origin, originChannel } from '../cli/contract.ts';

type Place = { readonly file: string; readonly line: number };

/** Something alive in this process that only whoever made it can end. */
export interface Trace {
  readonly what: string;
  /** As `performance.now()` tells it. A timer that one of the same file set is as old as that one. */
  readonly made: number;
  /** The calls that made it, the innermost first; those of Node itself are left out. */
  readonly places: readonly Place[];
  /** Whose work made it, where a user's plugin did. */
  readonly origin: Origin | undefined;
}

/** By the name that Node's async hooks give them. A handle is gone when it is closed, a timer when it is cleared. */
const kinds: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  Immediate: 'a timer',
  TCPWRAP: 'a socket',
  PIPEWRAP: 'a socket',
  UDPWRAP: 'a socket',
  TCPSERVERWRAP: 'a server',
  PIPESERVERWRAP: 'a server',
  PROCESSWRAP: 'a child process',
  WORKER: 'a worker thread',
  FSEVENTWRAP: 'a file watcher',
  STATWATCHER: 'a file watcher',
};

/** Remembers all timers, handles and process listeners there are, with what made them, from now on. Costs each a look at the stack. */
export function openTraces() {
  const resources = new Map<number, Trace>();
  const listeners = new Map<string | symbol, Map<unknown, Trace>>();
  const origins = new AsyncLocalStorage<Origin>();
  channel(originChannel).bindStore(origins);

  function onResource(id: number, type: string, trigger: number) {
    const what = kinds[type];
    if (what === undefined) return;
    const calls = getCallSites(60);
    if (isNodes(type, calls)) return;
    const places = placesOf(calls);
    const origin = origins.getStore();
    // What Node makes later on somebody's behalf, as a server that looks its host up first, has no stack of his.
    if (places.length === 0 && (!origin || what === 'a timer')) return;
    const before = what === 'a timer' ? resources.get(trigger) : undefined;
    const isSame = before?.places[0]?.file === places[0]?.file;
    resources.set(id, { what, made: before && isSame ? before.made : performance.now(), places, origin });
  }
  function onListener(event: string | symbol, listener: unknown) {
    const own = listeners.get(event) ?? new Map<unknown, Trace>();
    listeners.set(event, own);
    const what = `a listener of process "${String(event)}"`;
    own.set(listener, { what, made: performance.now(), places: placesOf(getCallSites(60)), origin: origins.getStore() });
  }
  const onRemoved = (event: string | symbol, listener: unknown) => {
    if (!process.listeners(event as 'exit').includes(listener as () => void)) listeners.get(event)?.delete(listener);
  };

  const hook = createHook({ init: onResource, destroy: (id) => resources.delete(id), trackPromises: false }).enable();
  process.on('newListener', onListener).on('removeListener', onRemoved);
  return {
    all: (): readonly Trace[] => [...resources.values(), ...[...listeners.values()].flatMap((own) => [...own.values()])],
    [Symbol.dispose]() {
      hook.disable();
      channel(originChannel).unbindStore(origins);
      process.off('newListener', onListener).off('removeListener', onRemoved);
    },
  };
}

/** Pools close their idle sockets by themselves, and pipes and timers that Node makes for something else end with it. */
function isNodes(type: string, calls: readonly CallSiteObject[]): boolean {
  const scripts = calls.slice(1).map(({ scriptName }) => scriptName);
  if (kinds[type] !== 'a timer')
    return (
      scripts.some((name) => /^node:(_http_agent|internal\/(deps\/undici|child_process|worker|bootstrap))/.test(name)) &&
      !/^(PROCESSWRAP|WORKER)$/.test(type)
    );
  const caller = scripts.find((name) => !/^node:(async_hooks|timers|internal\/(async_hooks|timers|util|process))/.test(name));
  return caller?.startsWith('node:') ?? true;
}

const product = join(import.meta.dirname, '../..');

/** Libraries work for whoever calls them; our own files do not, wherever the product is installed. */
export const isLibrary = (file: string) => (file.startsWith(product) ? file.slice(product.length) : file).includes('/node_modules/');

/** Mapped at once: with the next reload the map of a plugin is another one. The innermost call is our own. */
function placesOf(calls: readonly CallSiteObject[]): Place[] {
  return calls
    .slice(1)
    .filter(({ scriptName }) => /^(file:|\/)/.test(scriptName))
    .map(({ scriptName, lineNumber, columnNumber }) => {
      const origin = findSourceMap(scriptName)?.findOrigin(lineNumber, columnNumber);
      const { fileName = scriptName, lineNumber: line = lineNumber } = origin && 'fileName' in origin ? origin : {};
      return { file: fileName.startsWith('file:') ? fileURLToPath(fileName) : fileName, line };
    });
}
