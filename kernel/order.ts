import { KernelError } from './error.ts';
import type { Plugin } from './plugin.ts';

/** A plugin with the identity of its code, and where it came from, for people. */
export interface Entry {
  readonly plugin: Plugin;
  readonly codeHash: string;
  readonly source: string;
}

/** An entry that has no place: a name or service taken by another, a circle of needs. */
export interface Misfit {
  readonly entry: Entry;
  readonly error: KernelError;
}

/** Stable topological order: needs before dependents, ties keep the given order. */
export function order(given: readonly Entry[]) {
  const misfits: Misfit[] = [];
  const names = new Map<string, Entry>();
  const providers = new Map<string, Entry>();
  for (const entry of given) {
    const { name, provides = [] } = entry.plugin;
    const taken = provides.find((token) => providers.has(token.id));
    if (names.has(name))
      misfits.push(
        misfit(entry, 'PLUGIN_DUPLICATE', `is in ${names.get(name)?.source} and in ${entry.source}; remove one`),
      );
    else if (taken)
      misfits.push(
        misfit(
          entry,
          'SERVICE_DUPLICATE',
          `provides "${taken.id}" as "${providers.get(taken.id)?.plugin.name}" does; switch one off`,
        ),
      );
    else {
      names.set(name, entry);
      for (const token of provides) providers.set(token.id, entry);
    }
  }
  const entries = new Set<Entry>();
  const visit = (entry: Entry, path: readonly Entry[]) => {
    if (path.includes(entry)) {
      const circle = [...path.slice(path.indexOf(entry)), entry].map(({ plugin }) => plugin.name).join(' -> ');
      return misfits.push(misfit(entry, 'PLUGIN_CYCLE', `is in a circle of needs: ${circle}`));
    }
    for (const token of Object.values(entry.plugin.needs ?? {})) {
      const provider = providers.get(token.id);
      if (provider && !entries.has(provider)) visit(provider, [...path, entry]);
    }
    return entries.add(entry);
  };
  for (const entry of names.values()) if (!entries.has(entry)) visit(entry, []);
  return { entries: [...entries].filter((entry) => !misfits.some((bad) => bad.entry === entry)), misfits };
}

const misfit = (
  entry: Entry,
  code: 'PLUGIN_DUPLICATE' | 'SERVICE_DUPLICATE' | 'PLUGIN_CYCLE',
  what: string,
): Misfit => ({
  entry,
  error: new KernelError(code, `plugin "${entry.plugin.name}" ${what}`, { plugin: entry.plugin.name }),
});
