import { type KernelCode, KernelError } from './error.ts';
import type { Plugin } from './plugin.ts';

/** A plugin with the identity of its code, and its `source`, for people. `isAnew`: what it leases is closed, and made anew with it. */
export type Entry = { readonly plugin: Plugin; readonly codeHash: string; readonly source: string; readonly isAnew?: boolean };

const service = (id: string) => `the service "${id}"`;

/** What only one plugin may have. */
const claimsOf = ({ name, provides = [], config }: Plugin): readonly (readonly [string, KernelCode])[] => [
  [`the name "${name}"`, 'PLUGIN_DUPLICATE'],
  ...provides.map(({ id }) => [service(id), 'SERVICE_DUPLICATE'] as const),
  ...(config?.at ? [[`the config path "${config.at}"`, 'CONFIG_OWNED_TWICE'] as const] : []),
];

/** Stable topological order: needs before dependents, ties keep the given order. What has no place in it is refused. */
export function order(given: readonly Entry[], refuse: (name: string, error: KernelError) => void): readonly Entry[] {
  const owners = new Map<string, Entry>();
  const placed = new Set<Entry>();
  const misfits = new Set<Entry>();
  const misfit = (entry: Entry, code: KernelCode, what: string) => {
    const { name } = entry.plugin;
    misfits.add(entry);
    refuse(name, new KernelError(code, `plugin "${name}" of ${entry.source} ${what}`, { plugin: name }));
  };
  const visit = (entry: Entry, path: readonly Entry[]) => {
    if (placed.has(entry) || misfits.has(entry)) return;
    const circle = [...path.slice(path.indexOf(entry)), entry].map(({ plugin }) => plugin.name);
    if (path.includes(entry)) return misfit(entry, 'PLUGIN_CYCLE', `is in a circle of needs: ${circle.join(' -> ')}`);
    const providers = Object.values(entry.plugin.needs ?? {}).map(({ id }) => owners.get(service(id)));
    for (const provider of providers) if (provider) visit(provider, [...path, entry]);
    if (!misfits.has(entry)) placed.add(entry);
  };
  for (const entry of given) {
    const claims = claimsOf(entry.plugin);
    const [what = '', code] = claims.find(([claim]) => owners.has(claim)) ?? [];
    const owner = owners.get(what);
    if (code && owner) misfit(entry, code, `claims ${what} of plugin "${owner.plugin.name}" of ${owner.source}; switch one off`);
    else for (const [claim] of claims) owners.set(claim, entry);
  }
  for (const entry of given) visit(entry, []);
  return [...placed];
}
