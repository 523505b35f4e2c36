import type { Fault, Faults, NewFault } from './contract.ts';

export interface LedgerAround {
  readonly generation: () => number;
  /** Is told of a new fault at once, of repeats after a while. */
  readonly changed: (fault: Fault) => void;
  readonly now?: () => number;
  readonly everyMs?: number;
}

/** One plugin's noise must not push out what the others did. */
const perPlugin = 20;
const inAll = 200;

/** Counts repeats, so that a timer that throws for ever is one line. */
export function openLedger({ generation, changed, now = Date.now, everyMs = 1000 }: LedgerAround): Faults & AsyncDisposable {
  /** By what makes them the same; the newest last. */
  const faults = new Map<string, Fault>();
  const repeated = new Set<string>();
  let telling: NodeJS.Timeout | undefined;
  let made = 0;

  function tellRepeats() {
    telling = undefined;
    for (const key of repeated) {
      const fault = faults.get(key);
      if (fault) changed(fault);
    }
    repeated.clear();
  }

  function forgetOldest(plugin: string) {
    const keys = [...faults.keys()];
    const own = keys.filter((key) => faults.get(key)?.plugin === plugin);
    const tooMany = [...own.slice(0, -perPlugin), ...keys.slice(0, -inAll)];
    for (const key of tooMany) faults.delete(key);
  }

  return {
    note(given) {
      const key = keyOf(given);
      const at = now();
      const old = faults.get(key);
      const { id = `f${++made}`, count = 0, first = at } = old ?? {};
      const fault = { ...given, message: given.message.slice(0, 2000), id, generation: generation(), count: count + 1, first, last: at };
      faults.delete(key);
      faults.set(key, fault);
      if (!old) {
        forgetOldest(fault.plugin);
        return changed(fault);
      }
      repeated.add(key);
      telling ??= setTimeout(tellRepeats, everyMs).unref();
    },
    list: () => [...faults.values()].toReversed(),
    async [Symbol.asyncDispose]() {
      clearTimeout(telling);
    },
  };
}

/** By the place where there is one: a message may name a time or a count. */
const keyOf = ({ plugin, code, message, place }: NewFault) =>
  JSON.stringify([plugin, code, place ?? '', place && code !== 'PLUGIN_LEAK' ? '' : message.replace(/\d+/g, '#')]);
