import type { Leak } from './leaks.ts';
import { isLibrary, type Trace } from './traces.ts';

/** A plugin whose old instance is gone. */
export interface Suspect {
  /** Of its sources; empty where it is not known. */
  readonly folder: string;
  /** Its leases go on with the new instance, and what it made may be theirs. */
  readonly keepsLeases: boolean;
}

type Suspects = ReadonlyMap<string, Suspect>;

/**
 * Which of these traces are leaks. Of a plugin whose leases go on only what its setup or its live instance made, and not all
 * of that at first sight: through a function of the lease it may have been made for the lease. Two instances having left the
 * same behind proves that the lease does not need it.
 */
export function leaksAmong(traces: readonly Trace[], suspects: Suspects): ReadonlyMap<Trace, Leak> {
  const made = traces.flatMap((trace) => {
    const leak = leakOf(trace, suspects);
    return leak ? [[trace, leak] as const] : [];
  });
  const makers = Map.groupBy(made, ([, leak]) => JSON.stringify(leak));
  const isTwice = (leak: Leak) => new Set(makers.get(JSON.stringify(leak))?.map(([{ origin }]) => origin?.instance)).size > 1;
  const isProven = ([trace, leak]: readonly [Trace, Leak]) => {
    const suspect = suspects.get(leak.plugin);
    return !suspect?.keepsLeases || (isInstances(trace, leak.plugin) && (isDirect(trace, suspect) || isTwice(leak)));
  };
  return new Map(made.filter(isProven));
}

function leakOf({ what, places, origin }: Trace, suspects: Suspects): Leak | undefined {
  for (const [plugin, { folder }] of suspects) {
    const isIn = (file: string) => folder !== '' && file.startsWith(`${folder}/`);
    const maker = places.find(({ file }) => isIn(file) || !isLibrary(file));
    if (maker && isIn(maker.file)) return { plugin, what, place: `${maker.file}:${maker.line}` };
    if (places.length === 0 && origin?.plugin === plugin && origin.part !== 'lease') return { plugin, what };
  }
  return undefined;
}

const isInstances = ({ origin }: Trace, plugin: string) => origin?.plugin === plugin && (origin.part === 'setup' || origin.part === 'live');

/** The body of setup or of onLive itself made it: one call of the plugin's, right above the one that marks its work. */
function isDirect({ places }: Trace, { folder }: Suspect): boolean {
  const own = places.findLastIndex(({ file }) => file.startsWith(`${folder}/`));
  return places.slice(0, own).every(({ file }) => isLibrary(file)) && /\/cli\/origin\.[tj]s$/.test(places[own + 1]?.file ?? '');
}
