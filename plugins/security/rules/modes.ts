import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Who else of this machine may do something with a path: everybody, or only who is in its group. */
export type Others = 'everybody' | 'group';

const bits = { everybody: { read: 0o004, write: 0o002, enter: 0o001 }, group: { read: 0o040, write: 0o020, enter: 0o010 } } as const;
const sticky = 0o1000;

const statsOf = (path: string) => statSync(path, { throwIfNoEntry: false });

function parentsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

/** Whose group is that of its owner alone, as many systems make them, is open to nobody by it. */
const isOwnGroup = ({ uid, gid }: { readonly uid: number; readonly gid: number }) => uid === gid;

/** Who may read it: its mode says so, and every folder on the way lets him pass. Undefined: only its owner. */
export function readers(path: string): { readonly who: Others; readonly isReachable: boolean } | undefined {
  const stats = statsOf(path);
  if (!stats) return undefined;
  const who = stats.mode & bits.everybody.read ? 'everybody' : stats.mode & bits.group.read && !isOwnGroup(stats) ? 'group' : undefined;
  if (!who) return undefined;
  const lets = (folder: string) => ((statsOf(folder)?.mode ?? 0) & (bits.everybody.enter | bits[who].enter)) !== 0;
  return { who, isReachable: parentsOf(resolve(path)).every(lets) };
}

/** The path itself, or the nearest folder above it, in which somebody else may put other content in its place. */
export function writable(path: string): { readonly at: string; readonly who: Others } | undefined {
  const whole = resolve(path);
  for (const at of [whole, ...parentsOf(whole)]) {
    const stats = statsOf(at);
    // In a sticky folder nobody replaces what is another's.
    if (!stats || (at !== whole && stats.mode & sticky)) continue;
    if (stats.mode & bits.everybody.write) return { at, who: 'everybody' };
    if (stats.mode & bits.group.write && !isOwnGroup(stats)) return { at, who: 'group' };
  }
  return undefined;
}

/** A file of somebody else, who may change it whenever he likes; root may anyway. */
export function foreignOwner(path: string, ours = process.getuid?.()): number | undefined {
  const uid = statsOf(path)?.uid;
  return uid === undefined || ours === undefined || uid === 0 || uid === ours ? undefined : uid;
}

export const modeOf = (path: string) => (statsOf(path)?.mode ?? 0) & 0o777;
export const isFolder = (path: string) => statsOf(path)?.isDirectory() ?? false;
