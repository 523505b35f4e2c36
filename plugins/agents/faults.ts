import { type Around as ConfigAround, nearest } from '../../kernel/index.ts';
import { durationMs } from './contract.ts';
import { absolute, sameId, usualDir } from './resolution.ts';

/** A fault that no schema can tell. A lenient config, one written for OpenClaw, may go on with what is `tolerated`. */
export interface AgentFault {
  readonly path: string;
  readonly message: string;
  readonly isTolerated: boolean;
}

type Around = Omit<ConfigAround, 'config'>;
type Fields = Readonly<Record<string, unknown>>;
interface Placed {
  readonly path: string;
  readonly fields: Fields;
}

/** SPEC 1.3: everything that is wrong with `agents` beside its form, at once. Of values that may not have that form. */
export function agentFaults(agents: unknown, around: Around): readonly AgentFault[] {
  const { defaults, list } = isFields(agents) ? agents : {};
  const entries = (Array.isArray(list) ? (list as unknown[]) : []).flatMap((fields, i) =>
    isFields(fields) ? [{ path: `agents.list[${i}]`, fields }] : [],
  );
  const everywhere = isFields(defaults) ? [{ path: 'agents.defaults', fields: defaults }, ...entries] : entries;
  return [
    ...doubles(entries, around),
    ...sharedFolders(entries, around),
    ...everywhere.flatMap((one) => [...strangers(one, entries, around), ...misplaced(one), ...heartbeats(one)]),
  ];
}

/** Elsewhere the second one would be dropped in silence. */
function doubles(entries: readonly Placed[], { place }: Around): readonly AgentFault[] {
  const named = entries.flatMap(({ path, fields }) => (typeof fields['id'] === 'string' ? [{ path: `${path}.id`, id: fields['id'] }] : []));
  return named.flatMap(({ path, id }, i) => {
    const first = named.slice(0, i).find((other) => sameId(other.id, id));
    if (!first) return [];
    const spelled = first.id === id ? '' : ` as "${first.id}", and case does not tell agents apart`;
    return [fault(path, `agent "${id}" is there already at ${place(first.path)}${spelled}; rename or remove one`, true)];
  });
}

/** Two agents in one folder overwrite each other's sessions. */
function sharedFolders(entries: readonly Placed[], { home, place }: Around): readonly AgentFault[] {
  const folders = entries.flatMap(({ path, fields: { id, agentDir } }) => {
    if (typeof agentDir === 'string') return [{ path: `${path}.agentDir`, id, folder: absolute(agentDir), isOwn: true }];
    return typeof id === 'string' ? [{ path: `${path}.id`, id, folder: usualDir(home, id), isOwn: false }] : [];
  });
  return folders.flatMap(({ path, folder, isOwn }, i) => {
    const other = folders.find((one, at) => one.folder === folder && at !== i && (one.isOwn ? at < i : isOwn));
    if (!isOwn || !other) return [];
    const whose = `agent ${JSON.stringify(other.id)} (${place(other.path)})`;
    return [fault(path, `${folder} is the folder of ${whose} already; give each agent its own agentDir, or none`, false)];
  });
}

function strangers({ path, fields }: Placed, entries: readonly Placed[], { place }: Around): readonly AgentFault[] {
  const allowed = isFields(fields['subagents']) ? fields['subagents']['allowAgents'] : undefined;
  const listed = entries.flatMap(({ fields: { id } }) => (typeof id === 'string' ? [id] : []));
  const ids = listed.length ? listed : ['main'];
  return (Array.isArray(allowed) ? (allowed as unknown[]) : []).flatMap((id, i) => {
    if (typeof id !== 'string' || id === '*' || ids.some((known) => sameId(known, id))) return [];
    const near = nearest(id, ids);
    const cure = near ? `did you mean "${near}" (${place(idPath(entries, near))})?` : `there are ${ids.join(', ')}; "*" is any`;
    return [fault(`${path}.subagents.allowAgents[${i}]`, `there is no agent "${id}"; ${cure}`, true)];
  });
}

const idPath = (entries: readonly Placed[], id: string) => `${entries.find(({ fields }) => fields['id'] === id)?.path ?? 'agents'}.id`;

/** What people look for on an agent, and where it is. */
const elsewhere: Readonly<Record<string, string>> = {
  systemPrompt: 'an agent has no systemPrompt: write its persona into SOUL.md and its rules into AGENTS.md of its workspace',
  maxTokens: 'an agent has no maxTokens: write params: { maxTokens: … }',
};

const misplaced = ({ path, fields }: Placed): readonly AgentFault[] =>
  Object.entries(elsewhere).flatMap(([key, says]) => (key in fields ? [fault(`${path}.${key}`, says, true)] : []));

function heartbeats({ path, fields: { heartbeat } }: Placed): readonly AgentFault[] {
  const every = isFields(heartbeat) ? heartbeat['every'] : undefined;
  const isOdd = (typeof every === 'string' || typeof every === 'number') && durationMs(every) === undefined;
  const cure = 'write e.g. "30m", "1h30m", or minutes as a number';
  return isOdd ? [fault(`${path}.heartbeat.every`, `${JSON.stringify(every)} is no duration; ${cure}`, false)] : [];
}

const fault = (path: string, message: string, isTolerated: boolean): AgentFault => ({ path, message, isTolerated });
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
