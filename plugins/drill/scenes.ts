import { given, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import type { Plan } from '../failover/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { AskModel, Models } from '../models/contract.ts';
import { Turn } from '../turns/contract.ts';
import { type Fault, faults, type MockServer, type Seen } from './mock-server.ts';
import { castOf, profileOf } from './stage.ts';

export interface Scene {
  readonly fault: Fault;
  readonly where: string;
  /** The ask after one that failed everywhere. */
  readonly again: boolean;
  readonly attempts: readonly { readonly model: string; readonly profile: string; readonly fault?: Fault }[];
  /** How long a rest was waited out. */
  readonly waitedMs?: number;
  /** Who answered; absent where nobody did. */
  readonly answeredBy?: string;
  /** What the user would read where nobody did. */
  readonly error?: { readonly code: string; readonly message: string; readonly reason?: string };
}

interface Place {
  readonly where: string;
  readonly hits: (request: Pick<Seen, 'model' | 'key'>) => boolean;
  /** Ask this once before, so that rests are on record. */
  readonly before?: boolean;
}

/** Each fault at each place of the chain, one after the other, each with a clean slate. */
export async function playAll(run: Run, plan: Plan, mock: MockServer): Promise<readonly Scene[]> {
  const scenes: Scene[] = [];
  for (const fault of faults) for (const place of placesOf(plan)) scenes.push(await played(run, plan, mock, { fault, place }));
  const resting = { where: 'every model, then again, when they are well', hits: () => true, before: true };
  scenes.push(await played(run, plan, mock, { fault: 'rate_limit', place: resting }));
  return scenes;
}

function placesOf(plan: Plan): readonly Place[] {
  const candidates = castOf(plan);
  const { model: first = '', profiles = [] } = candidates[0] ?? {};
  const head = profiles[0]?.profile.id;
  const one: Place = { where: `${first} as ${head}`, hits: ({ model, key }) => model === first && profileOf(key) === head };
  const model: Place = { where: first, hits: (request) => request.model === first };
  const every: Place = { where: 'every model', hits: () => true };
  return [...(profiles.length > 1 ? [one] : []), ...(candidates.length > 1 ? [model] : []), every];
}

interface Part {
  readonly fault: Fault;
  readonly place: Place;
}

/** Deadlines are short here: a sound answer that came too late says that this machine was busy, and nothing of the chain. */
async function played(run: Run, plan: Plan, mock: MockServer, part: Part, triesLeft = 4): Promise<Scene> {
  const scene = await play(run, plan, mock, part);
  const { attempts, answeredBy } = scene;
  const isLate = attempts.some(({ fault }, i) => fault === undefined && (i < attempts.length - 1 || answeredBy === undefined));
  return isLate && triesLeft > 0 ? played(run, plan, mock, part, triesLeft - 1) : scene;
}

async function play(run: Run, plan: Plan, mock: MockServer, { fault, place }: Part): Promise<Scene> {
  const clear = (await run.call(Methods, {}))['auth.clear'];
  await clear?.({}, { id: 'drill', kind: 'drill', sender: 'internal', signal: run.signal, send() {} }, run);
  mock.fails = (request) => (place.hits(request) ? fault : undefined);
  if (place.before) await ask(run, plan, fault);
  if (place.before) mock.fails = () => undefined;
  mock.seen.length = 0;
  const reply = await ask(run, plan, `${fault} ${place.where}`);
  const attempts = mock.seen.map(({ model, key, fault: had }) => ({ model, profile: profileOf(key), ...(had && { fault: had }) }));
  const { message, failure, waitedMs } = reply;
  const scene = { fault, where: place.where, again: place.before === true, attempts, ...(waitedMs !== undefined && { waitedMs }) };
  if (!failure) return { ...scene, answeredBy: `${message.provider}/${message.model}` };
  return { ...scene, error: { code: failure.code, message: failure.message, ...(failure.reason && { reason: failure.reason }) } };
}

/** As a turn asks, with the agent's chain; each in a session of its own. */
async function ask(run: Run, { agentId }: Plan, sessionId: string) {
  const { model, missing } = await run.get(Models).choose(run, agentId);
  const turn: Turn = {
    runId: run.id,
    agentId,
    sessionKey: `agent:${agentId}:drill`,
    sessionId,
    itemId: 'drill',
    trigger: 'system',
    workspace: run.get(Agents).workspace(agentId),
    model,
    ...(missing && { modelMissing: missing }),
  };
  const own = run.as({ subject: { agent: agentId, provider: model.provider, model: model.id }, values: [given(Turn, turn)] });
  const messages = [{ role: 'user', content: 'This is a drill.', timestamp: Date.now() }] as const;
  const reply = await own.call(AskModel, {
    request: { model, system: '', messages, tools: [], signal: own.signal, sessionId },
    on: () => {},
  });
  if (!reply) throw new Error('no plugin asks models');
  return reply;
}
