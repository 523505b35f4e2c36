import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userInfo } from 'node:os';
import { KernelError } from '../../../kernel/index.ts';

/** One change of one config file. */
export interface Entry {
  readonly id: number;
  /** ISO time: when it was made, or when a change by hand was noticed. */
  readonly time: string;
  readonly who: string;
  /** `set gateway.port`; never a value. */
  readonly what: string;
  /** `seen`: the first text that we know of a file. `hand`: somebody else's change. */
  readonly kind: 'ours' | 'hand' | 'seen';
  readonly file: string;
  /** Texts as they were, with `${VAR}` as written; undefined: there was no file. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export const handEdit = 'edited by hand';

const kept = 100;

export interface History {
  /** Oldest first. */
  readonly entries: () => readonly Entry[];
  readonly get: (id: number) => Entry;
  readonly record: (change: Pick<Entry, 'what' | 'file' | 'before' | 'after'>) => Entry;
  /** What a file is now, where that is not what we left it as. */
  readonly notice: (file: string, now: string | undefined) => void;
}

/** Kept in the state folder, an entry a file. `now` and `user` are given by tests. */
export function openHistory(home: string, now = () => new Date(), user = () => userInfo().username): History {
  const folder = join(home, 'config-history');

  /** A file that is no entry, such as a torn one, is passed over. */
  function entries(): readonly Entry[] {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return numbers().flatMap((number) => {
      try {
        const entry = JSON.parse(readFileSync(nameOf(number), 'utf8')) as Entry;
        return entry.id === number ? [entry] : [];
      } catch {
        return [];
      }
    });
  }

  const nameOf = (id: number) => join(folder, `${String(id).padStart(6, '0')}.json`);
  const numbers = () =>
    readdirSync(folder)
      .flatMap((name) => /^(\d{6,})\.json$/.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((a, b) => a - b);

  function add(entry: Omit<Entry, 'id' | 'time'>): Entry {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (let id = (numbers().at(-1) ?? 0) + 1; ; id++) {
      const whole = { id, time: now().toISOString(), ...entry };
      try {
        writeFileSync(nameOf(id), JSON.stringify(whole), { flag: 'wx', mode: 0o600 });
        prune();
        return whole;
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      }
    }
  }

  /** The newest of each file stays, however old: it says what we left that file as. */
  function prune() {
    const all = entries();
    const newest = new Set(
      all
        .map(({ file, id }) => [file, id] as const)
        .reduce((map, [file, id]) => map.set(file, id), new Map<string, number>())
        .values(),
    );
    for (const { id } of all.slice(0, -kept)) if (!newest.has(id)) rmSync(nameOf(id), { force: true });
  }

  return {
    entries,
    get(id) {
      const entry = entries().find((one) => one.id === id);
      if (entry) return entry;
      throw new KernelError('CONFIG_HISTORY', `the history has no change ${id}; "instar config history" lists them`);
    },
    record(change) {
      // Another command may have seen our text while we still waited for the gateway.
      const seen = entries().findLast(({ file }) => file === change.file);
      if (seen?.kind === 'hand' && seen.before === change.before && seen.after === change.after) rmSync(nameOf(seen.id), { force: true });
      return add({ who: user(), kind: 'ours', ...change });
    },
    notice(file, text) {
      const known = entries().findLast((one) => one.file === file);
      if (!known && text !== undefined) add({ who: '', what: 'first seen', kind: 'seen', file, after: text });
      if (known && known.after !== text) add({ who: '', what: handEdit, kind: 'hand', file, before: known.after, after: text });
    },
  };
}

export const digestOf = (text: string | undefined) => (text === undefined ? 'no file' : hash('sha256', text).slice(0, 12));
