import { createHook } from 'node:async_hooks';
import { findSourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';

type Place = { readonly file: string; readonly line: number };

/** Something alive in this process that only whoever made it can end. */
export interface Trace {
  readonly what: string;
  /** As `performance.now()` tells it. A timer that one of the same file set is as old as that one. */
  readonly made: number;
  /** The calls that made it, the innermost first. */
  readonly places: readonly Place[];
}

/** Remembers all timers and process listeners there are, with what made them, from now on. Costs each timer a look at the stack. */
export function openTraces() {
  const timers = new Map<number, Trace>();
  const listeners = new Map<string | symbol, Map<unknown, Trace>>();

  function onTimer(id: number, type: string, trigger: number) {
    if (type !== 'Timeout' && type !== 'Immediate') return;
    const places = placesHere();
    if (places.length === 0) return;
    const before = timers.get(trigger);
    const isSame = before?.places[0]?.file === places[0]?.file;
    timers.set(id, { what: 'a timer', made: before && isSame ? before.made : performance.now(), places });
  }
  function onListener(event: string | symbol, listener: unknown) {
    const own = listeners.get(event) ?? new Map<unknown, Trace>();
    listeners.set(event, own);
    own.set(listener, { what: `a listener of process "${String(event)}"`, made: performance.now(), places: placesHere() });
  }
  const onRemoved = (event: string | symbol, listener: unknown) => {
    if (!process.listeners(event as 'exit').includes(listener as () => void)) listeners.get(event)?.delete(listener);
  };

  const hook = createHook({ init: onTimer, destroy: (id) => timers.delete(id), trackPromises: false }).enable();
  process.on('newListener', onListener).on('removeListener', onRemoved);
  return {
    all: (): readonly Trace[] => [...timers.values(), ...[...listeners.values()].flatMap((own) => [...own.values()])],
    [Symbol.dispose]() {
      hook.disable();
      process.off('newListener', onListener).off('removeListener', onRemoved);
    },
  };
}

const product = join(import.meta.dirname, '../..');

/** Libraries work for whoever calls them; our own files do not, wherever the product is installed. */
export const isLibrary = (file: string) => (file.startsWith(product) ? file.slice(product.length) : file).includes('/node_modules/');

/** Mapped at once: with the next reload the map of a plugin is another one. */
function placesHere(): Place[] {
  return getCallSites(40)
    .slice(2)
    .filter(({ scriptName }) => /^(file:|\/)/.test(scriptName))
    .map(({ scriptName, lineNumber, columnNumber }) => {
      const origin = findSourceMap(scriptName)?.findOrigin(lineNumber, columnNumber);
      const { fileName = scriptName, lineNumber: line = lineNumber } = origin && 'fileName' in origin ? origin : {};
      return { file: fileName.startsWith('file:') ? fileURLToPath(fileName) : fileName, line };
    });
}
