import { dig, type Finding, isObject, type Keys, put, type Values } from './finding.ts';

/** An id as OpenClaw compares it: lower case, and `-` for what may not be part of a folder's name. */
export function normalId(id: string): string {
  const plain = id
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-');
  return plain.replace(/^[-_]+|-+$/g, '').slice(0, 64) || 'main';
}

type Place = (keys: Keys) => string;
interface Checked {
  readonly values: Values;
  readonly findings: readonly Finding[];
  /** Entries that were taken out. */
  readonly dropped: readonly Keys[];
}

/**
 * What the names in a config say of each other: agents of one id or one folder, references to nobody. Elsewhere these are errors.
 * An OpenClaw file means by them what OpenClaw makes of them: of agents the first, for a lost reference the default agent or none.
 * Whatever is taken out of a list comes last, so that places stay right as long as they can.
 */
export function checkReferences(values: Values, isTolerant: boolean, place: Place): Checked {
  const agents = entriesOf(values, ['agents', 'list']).map((agent, i) => ({ agent, i, id: idOf(agent, isTolerant) }));
  const firsts = new Map<string, number>();
  for (const { id, i } of agents) if (id !== undefined && !firsts.has(id)) firsts.set(id, i);
  const doubles = agents.filter(({ id, i }) => id !== undefined && firsts.get(id) !== i);
  const folders = sharedFolders(
    agents.filter((one) => !doubles.includes(one)),
    place,
  );
  const strayed = strayedReferences(values, firsts.size ? new Set(firsts.keys()) : new Set(['main']), isTolerant);
  const twice = doubles.map(({ id = '', i }) => double(id, i, firsts.get(id) ?? 0, isTolerant, place));
  const findings = [...twice, ...folders, ...strayed.map(({ finding }) => finding)];
  if (!isTolerant) return { values, findings, dropped: [] };
  let mended = values;
  for (const { keys, to } of strayed) mended = put(mended, keys, to) as Values;
  for (const { keys, to } of respelled(mended)) mended = put(mended, keys, to) as Values;
  for (const { i, agent, id } of agents) {
    if (isObject(agent) && id !== undefined && agent['id'] !== id) mended = put(mended, ['agents', 'list', String(i), 'id'], id) as Values;
  }
  const dropped = doubles.map(({ i }) => ['agents', 'list', String(i)]);
  return { values: withoutEntries(mended, dropped), findings, dropped };
}

/** References spell an id as its agent did, which here may be another: all but case. */
function respelled(values: Values): readonly { readonly keys: Keys; readonly to: string }[] {
  const bindings = entriesOf(values, ['bindings']).map((_, i) => ['bindings', String(i), 'agentId']);
  const allowed = entriesOf(values, ['agents', 'list']).flatMap((_, i) => {
    const keys = ['agents', 'list', String(i), 'subagents', 'allowAgents'];
    return entriesOf(values, keys).map((__, j) => [...keys, String(j)]);
  });
  return [...bindings, ...allowed].flatMap((keys) => {
    const id = dig(values, keys);
    if (typeof id !== 'string' || id === '*' || normalId(id) === id.toLowerCase()) return [];
    return [{ keys, to: normalId(id) }];
  });
}

/** Lists without these entries; the last go first, so that each is still where it was. */
export function withoutEntries(values: Values, entries: readonly Keys[]): Values {
  return entries.toReversed().reduce((at, entry) => {
    const list = dig(at, entry.slice(0, -1));
    return Array.isArray(list) ? (put(at, entry.slice(0, -1), list.toSpliced(Number(entry.at(-1)), 1)) as Values) : at;
  }, values);
}

function idOf(agent: unknown, isTolerant: boolean): string | undefined {
  const id = isObject(agent) ? agent['id'] : undefined;
  if (typeof id !== 'string') return undefined;
  return isTolerant ? normalId(id) : id.toLowerCase();
}

function double(id: string, i: number, first: number, isTolerant: boolean, place: Place): Finding {
  const at = place(['agents', 'list', String(first), 'id']);
  const cure = isTolerant ? 'the first counts, this one has no effect' : 'rename or remove one';
  return {
    keys: ['agents', 'list', String(i), 'id'],
    kind: isTolerant ? 'warning' : 'error',
    why: `agent "${id}" is there already at ${at}; ${cure}`,
  };
}

/** Two agents would write each other's keys and sessions: an error everywhere. */
function sharedFolders(agents: readonly { readonly agent: unknown; readonly i: number }[], place: Place): readonly Finding[] {
  const keysOf = (i: number): Keys => ['agents', 'list', String(i), 'agentDir'];
  const folders = agents.map(({ agent, i }) => ({
    i,
    folder: isObject(agent) && typeof agent['agentDir'] === 'string' ? agent['agentDir'].replace(/\/+$/, '') : '',
  }));
  return folders.flatMap(({ i, folder }): readonly Finding[] => {
    const first = folders.find((one) => one.folder === folder);
    if (!folder || !first || first.i === i) return [];
    return [
      {
        keys: keysOf(i),
        kind: 'error',
        why: `the folder is another agent's already, at ${place(keysOf(first.i))}; give each agent its own`,
      },
    ];
  });
}

interface Strayed {
  readonly keys: Keys;
  /** What OpenClaw would take instead. */
  readonly to: unknown;
  readonly finding: Finding;
}

/** Names of agents that are none: in bindings and in what an agent may start. */
function strayedReferences(values: Values, known: ReadonlySet<string>, isTolerant: boolean): readonly Strayed[] {
  const isKnown = (id: unknown) => typeof id !== 'string' || id === '*' || known.has(isTolerant ? normalId(id) : id.toLowerCase());
  const instead = `name one of: ${[...known].join(', ')}`;
  const kind = isTolerant ? 'warning' : 'error';
  const list = entriesOf(values, ['agents', 'list']);
  const first = list.find((one) => dig(one, ['default']) === true) ?? list[0];
  const byDefault = idOf(first, isTolerant) ?? 'main';
  const why = (id: unknown, tolerated: string, cure: string) => `there is no agent "${String(id)}"; ${isTolerant ? tolerated : cure}`;
  const bindings = entriesOf(values, ['bindings']).flatMap((binding, i): readonly Strayed[] => {
    const keys = ['bindings', String(i), 'agentId'];
    const id = dig(binding, ['agentId']);
    if (isKnown(id)) return [];
    return [{ keys, to: byDefault, finding: { keys, kind, why: why(id, `the default agent "${byDefault}" answers`, instead) } }];
  });
  const owners: readonly Keys[] = [['agents', 'defaults'], ...list.map((_, i) => ['agents', 'list', String(i)])];
  const allowed = owners.flatMap((owner) => {
    const keys = [...owner, 'subagents', 'allowAgents'];
    const ids = entriesOf(values, keys);
    return ids.flatMap((id, i): readonly Strayed[] => {
      if (isKnown(id)) return [];
      const finding: Finding = { keys: [...keys, String(i)], kind, why: why(id, 'it is passed over', `${instead}, or *`) };
      return [{ keys, to: ids.filter(isKnown), finding }];
    });
  });
  return [...bindings, ...allowed];
}

function entriesOf(values: Values, keys: Keys): readonly unknown[] {
  const list = dig(values, keys);
  return Array.isArray(list) ? list : [];
}
