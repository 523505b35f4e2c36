import { nearest, type Run, type Subject } from '../../kernel/index.ts';
import { Agents, modelChain } from '../agents/contract.ts';
import { refusal } from '../gateway/contract.ts';
import { Models } from '../models/contract.ts';
import type { Member } from './contract.ts';

type Params = Readonly<Record<string, unknown>>;
type Whom = Subject & Member;

const senders = ['owner', 'known', 'unknown', 'internal'] as const;
const sessions = ['main', 'direct', 'group', 'thread', 'subagent', 'cron', 'ephemeral'] as const;

/** What is compared where nobody is named. */
export const audience: Readonly<Record<string, Whom>> = {
  owner: { channel: 'chat', sender: 'owner', session: 'main', depth: 0, sandboxed: false },
  'unknown sender': { channel: 'chat', sender: 'unknown', session: 'direct', depth: 0, sandboxed: false },
  'sub-agent': { channel: 'chat', sender: 'owner', session: 'subagent', depth: 1, sandboxed: false },
  sandboxed: { channel: 'chat', sender: 'owner', session: 'direct', depth: 0, sandboxed: true },
};

/** A sender that is no class is an id, of somebody unknown. Where nothing is said of it, the sender is the owner. */
export function whomOf(params: Params): Whom {
  const [sender, senderId] = [wordOf(params, 'sender') ?? 'owner', wordOf(params, 'senderId')];
  const known = senders.find((one) => one === sender);
  const near = known ? undefined : nearest(sender, senders);
  if (near) throw wrong(`"sender" is ${senders.join(', ')} or an id; "${sender}" is very like "${near}"`);
  const id = senderId ?? (known ? undefined : sender);
  const group = wordOf(params, 'group');
  const depth = depthOf(params['depth']);
  const usual = depth > 0 ? 'subagent' : group === undefined ? 'direct' : 'group';
  return {
    channel: wordOf(params, 'channel') ?? 'chat',
    sender: known ?? 'unknown',
    session: oneOf(params, 'session', sessions) ?? usual,
    depth,
    sandboxed: flagOf(params, 'sandboxed'),
    ...(id !== undefined && { senderId: id }),
    ...(group !== undefined && { group }),
  };
}

/** The same as in a turn of that agent, with the model that would answer. */
export async function subjectOf(params: Params, run: Run): Promise<Whom> {
  const agent = agentOf(params, run);
  const asked = wordOf(params, 'model');
  return { ...whomOf(params), agent, ...(asked === undefined ? await usualModel(run, agent) : modelOf(asked)) };
}

export function agentOf(params: Params, run: Run): string {
  const agents = run.get(Agents);
  const asked = wordOf(params, 'agent');
  const id = agents.sessionAgent({ agentId: asked });
  if (agents.own(id)) return id;
  const near = nearest(id, agents.ids);
  throw refusal(
    404,
    'POLICY_AGENT',
    `there is no agent "${id}"; ${near ? `did you mean "${near}"?` : `there are ${agents.ids.join(', ')}`}`,
  );
}

/** The model of an agent. Where none is named, what is chosen now; where there is none to choose, no rule of a provider counts. */
export async function usualModel(run: Run, agent: string): Promise<Pick<Subject, 'provider' | 'model'>> {
  const named = namedModel(run.get(Agents), agent);
  if (named.provider !== undefined) return named;
  const choice = await run
    .find(Models)
    ?.choose(run, agent)
    .catch(() => undefined); // doctor and status say why
  return choice ? { provider: choice.model.provider, model: choice.model.id } : {};
}

export function namedModel(agents: Pick<Agents, 'own' | 'defaults'>, agent: string): Pick<Subject, 'provider' | 'model'> {
  const { primary } = modelChain(agents, agent);
  return primary === undefined ? {} : modelOf(primary);
}

export function modelOf(ref: string): Pick<Subject, 'provider' | 'model'> {
  const at = ref.indexOf('/');
  return at < 0 ? { provider: ref } : { provider: ref.slice(0, at), model: ref.slice(at + 1) };
}

export function wordOf(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 512) return value.trim();
  throw wrong(`"${name}" must be 1 to 512 characters`);
}

function oneOf<const T extends string>(params: Params, name: string, known: readonly T[]): T | undefined {
  const word = wordOf(params, name);
  const found = known.find((one) => one === word);
  if (word === undefined || found) return found;
  const near = nearest(word, known);
  throw wrong(`"${name}" is one of ${known.join(', ')}${near ? `; did you mean "${near}"?` : ''}`);
}

function depthOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100) return value;
  throw wrong('"depth" must be a whole number from 0 to 100: 0 is no sub-agent, 1 the child of one that is none');
}

function flagOf(params: Params, name: string): boolean {
  const value = params[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw wrong(`"${name}" must be true or false`);
}

const wrong = (what: string) => refusal(400, 'POLICY_PARAMS', what);
