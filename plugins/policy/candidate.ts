import { Host, joinKey, type JsonSchema, nearest, type Run } from '../../kernel/index.ts';
import { type AgentEntry, Agents } from '../agents/contract.ts';
import { refusal } from '../gateway/contract.ts';
import { type ChannelGroups, groupRulesOf } from './contract.ts';
import type { Ruling, Standing, ToolConfig } from './rules.ts';
import { agentSchema, schema } from './schema.ts';

/** A config that nobody runs yet, as far as policy goes by it. */
export interface Candidate {
  readonly ids: readonly string[];
  readonly agents: Pick<Agents, 'own' | 'defaults'>;
  readonly ruling: Ruling;
  group(subject: Standing['subject']): Standing['group'];
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads values that come from outside; throws POLICY_CANDIDATE with every fault in its rules. */
export async function candidateOf(values: unknown, run: Run): Promise<Candidate> {
  const whole = isFields(values) ? values : {};
  const agents = isFields(whole['agents']) ? whole['agents'] : {};
  const tools = without(whole['tools'] ?? {}, ownedByOthers(run));
  const listed = Array.isArray(agents['list']) && agents['list'].length ? (agents['list'] as unknown[]) : [{ id: 'main' }];
  const defaults = isFields(agents['defaults']) ? agents['defaults'] : {};
  const faults = [
    ...(isFields(values) ? [] : ['the candidate must be an object with "tools" and "agents"']),
    ...(await faultsIn(tools, schema, 'tools')),
    ...(await faultsIn(defaults['tools'] ?? {}, agentSchema, 'agents.defaults.tools')),
    ...(await Promise.all(listed.map((entry, i) => entryFaults(entry, `agents.list[${i}]`)))).flat(),
  ];
  if (faults.length) throw refusal(400, 'POLICY_CANDIDATE', faults.join('\n'));
  const entries = listed as readonly AgentEntry[];
  const own = (id: string) => entries.find((entry) => entry.id.toLowerCase() === id.toLowerCase());
  const pathOf = (id: string) => `agents.list[${entries.indexOf(own(id) as AgentEntry)}]`;
  return {
    ids: [...new Set(entries.map(({ id }) => id))],
    agents: { own, defaults },
    ruling: {
      tools: { path: 'tools', rules: tools as ToolConfig },
      agent: (id) => rulesOf(own(id)?.['tools'], `${pathOf(id)}.tools`) ?? rulesOf(defaults['tools'], 'agents.defaults.tools'),
      maxSpawnDepth: (id) => depthOf(own(id), `${pathOf(id)}.subagents`) ?? depthOf(defaults, 'agents.defaults.subagents') ?? usualDepth,
    },
    group: groupsIn(whole['channels'], run),
  };
}

const usualDepth = { depth: 1, path: 'agents.defaults.subagents.maxSpawnDepth' };
const rulesOf = (rules: unknown, path: string) => (isFields(rules) ? { path, rules: rules as ToolConfig } : undefined);

function depthOf(fields: Fields | undefined, path: string) {
  const subagents = fields?.['subagents'];
  const depth = isFields(subagents) ? subagents['maxSpawnDepth'] : undefined;
  return typeof depth === 'number' ? { depth, path: `${path}.maxSpawnDepth` } : undefined;
}

/** Only of channels that are live: what no plugin heeds, a candidate does not change. */
function groupsIn(channels: unknown, run: Run): Candidate['group'] {
  if (!isFields(channels)) return () => undefined;
  const heeded = new Set(
    run
      .get(Host)
      .inspect()
      .instances.map(({ configAt }) => configAt),
  );
  return ({ channel = '', group, senderId }) => {
    const entry = heeded.has(`channels.${channel}`) && Object.hasOwn(channels, channel) ? channels[channel] : undefined;
    const groups = isFields(entry) ? entry['groups'] : undefined;
    if (group === undefined || !isFields(groups)) return undefined;
    return groupRulesOf(groups as ChannelGroups, `${joinKey('channels', channel)}.groups`, group, senderId);
  };
}

/** Keys below `tools` that are other plugins': `exec`, `web`. */
const ownedByOthers = (run: Run) =>
  run
    .get(Host)
    .inspect()
    .instances.flatMap(({ configAt }) => /^tools\.([^.]+)/.exec(configAt ?? '')?.[1] ?? []);

const without = (value: unknown, keys: readonly string[]) =>
  isFields(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) : value;

async function entryFaults(entry: unknown, path: string): Promise<readonly string[]> {
  if (!isFields(entry) || typeof entry['id'] !== 'string') return [`${path}: an agent needs an id`];
  return faultsIn(entry['tools'] ?? {}, agentSchema, `${path}.tools`);
}

async function faultsIn(value: unknown, rules: JsonSchema, at: string): Promise<readonly string[]> {
  const { Ajv } = await import('ajv');
  const validate = new Ajv({ allErrors: true, strict: false, verbose: true }).compile(rules);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, keyword, message, params, parentSchema }) => {
    const path = instancePath.split('/').slice(1).map(unescaped).reduce(joinKey, at);
    if (keyword !== 'additionalProperties') return `${path}: ${message}`;
    const key = String(params['additionalProperty']);
    const near = nearest(key, Object.keys((parentSchema?.['properties'] as object | undefined) ?? {}));
    return `${joinKey(path, key)}: unknown key "${key}"${near ? `; did you mean "${near}"?` : ''}`;
  });
}

const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~');
