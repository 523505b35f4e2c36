import { nearest, type Run } from '../../kernel/index.ts';
import { Agents, modelChain } from '../agents/contract.ts';
import { AuthProfiles } from '../auth-profiles/contract.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { Models } from '../models/contract.ts';
import { Sessions, sessionKey as keyIn } from '../sessions/contract.ts';
import { standingsIn } from './answer.ts';
import { chainOf, refOf } from './chain.ts';
import type { ModelLine, Plan, ProbeLine } from './contract.ts';
import { nextStep, nothingBehind, probeStep, problemOf, soonStep } from './step.ts';
import { failureOf } from './walk.ts';

type Params = Parameters<Method>[0];

/** The methods of `contract.ts`. */
export const failoverMethods = (patienceMs: number): Readonly<Record<string, Method>> => ({
  'models.list': async (_params, _client, run) => ({ models: await list(run) }),
  'models.explain': (params, _client, run) => explain(params, run, patienceMs),
  'models.probe': async (params, _client, run) => ({ probes: await probe(params, run) }),
});

async function list(run: Run): Promise<readonly ModelLine[]> {
  const agents = run.get(Agents);
  const models = [...(await run.get(Models).list(run))];
  const uses = new Map<string, string[]>();
  const use = (ref: string, who: string) => uses.set(ref, [...(uses.get(ref) ?? []), who]);
  for (const id of agents.ids) {
    const choice = await run
      .get(Models)
      .choose(run, id)
      .catch(() => undefined); // explain says why
    if (choice && !choice.missing) use(refOf(choice.model), id);
    const { fallbacks } = modelChain(agents, id);
    fallbacks.forEach((ref, i) => use(ref, `${id} (fallback ${i + 1})`));
    // What a known provider has besides the usual one is here once somebody names it.
    const resolved = fallbacks.map((ref) =>
      run
        .get(Models)
        .resolve(run, ref)
        .catch(() => undefined),
    );
    models.push(...[choice?.model, ...(await Promise.all(resolved))].filter((model) => model !== undefined));
  }
  const lines = models.map((model): ModelLine => {
    const { name, contextWindow, input, reasoning } = model;
    return { model: refOf(model), name, contextWindow, input, reasoning, usedBy: uses.get(refOf(model)) ?? [] };
  });
  return lines.filter(({ model }, i) => lines.findIndex((one) => one.model === model) === i);
}

/** By the code that an ask takes its first step with. */
async function explain(params: Params, run: Run, patienceMs: number): Promise<Plan> {
  const asked = wordOf(params, 'model');
  const { agentId, sessionKey } = addressOf(params, run);
  const { model, why, missing } = await run.get(Models).choose(run, agentId, asked);
  const chain = chainOf(run, { model, why, agentId, isAsked: asked !== undefined, missing });
  const sessionId = sessionKey && (await run.find(Sessions)?.find(sessionKey))?.sessionId;
  const standingsOf = standingsIn(run, sessionId);
  const next =
    (await nextStep(chain, standingsOf, nothingBehind)) ??
    (await soonStep(chain, standingsOf, nothingBehind, { now: Date.now(), patienceMs })) ??
    (await probeStep(chain, standingsOf, nothingBehind));
  const candidates = chain.map(async (candidate) => {
    const problem = await problemOf(candidate);
    const profiles = problem === undefined ? standingsOf(await candidate.model()) : [];
    return { model: candidate.ref, why: candidate.why, ...(problem !== undefined && { problem }), profiles };
  });
  return {
    agentId,
    ...(sessionKey && { sessionKey }),
    wanted: missing ? { model: missing.ref, why: missing.why } : { model: refOf(model), why },
    ...(next && { next: { model: next.ref, profile: next.standing.profile.id, why: next.why } }),
    candidates: await Promise.all(candidates),
  };
}

/** What each costs is a handful of tokens. One after the other: a probe must not be what trips a limit. */
async function probe(params: Params, run: Run): Promise<readonly ProbeLine[]> {
  const { agentId } = addressOf(params, run);
  const { model, why, missing } = await run.get(Models).choose(run, agentId);
  const lines: ProbeLine[] = [];
  for (const candidate of chainOf(run, { model, why, agentId, isAsked: false, missing })) {
    const problem = await problemOf(candidate);
    if (problem !== undefined) lines.push({ model: candidate.ref, ok: false, ms: 0, message: problem });
    else {
      const found = await candidate.model();
      for (const { profile } of standingsIn(run, undefined)(found)) lines.push(await probeOne(run, found, profile));
    }
  }
  return lines;
}

async function probeOne(
  run: Run,
  model: Awaited<ReturnType<Models['resolve']>>,
  profile: Parameters<AuthProfiles['credential']>[1],
  isAgain = false,
): Promise<ProbeLine> {
  const [began, beganAt, profiles] = [performance.now(), Date.now(), run.find(AuthProfiles)];
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(60_000)]);
  const line = { model: refOf(model), profile: profile.id };
  try {
    const credential = await profiles?.credential(run, profile);
    const messages = [{ role: 'user', content: 'Say ok.', timestamp: beganAt }] as const;
    const request = {
      model,
      system: 'Answer with one word.',
      messages,
      tools: [],
      signal,
      maxTokens: 64,
      ...(credential && { credential }),
    };
    const { failure } = await run.get(Models).complete(run, request, () => {});
    const end = {
      ...line,
      origin: profile.origin,
      provider: model.provider,
      model: model.id,
      beganAt,
      credential,
      ...(failure && { failure }),
    };
    if ((await profiles?.report(run, end)) && !isAgain) return await probeOne(run, model, profile, true);
    const ms = Math.round(performance.now() - began);
    if (!failure) return { ...line, ok: true, ms, message: 'answers' };
    return { ...line, ok: false, ms, message: failure.message, ...(failure.reason && { reason: failure.reason }) };
  } catch (cause) {
    const { message, reason } = failureOf(cause);
    return { ...line, ok: false, ms: Math.round(performance.now() - began), message, ...(reason && { reason }) };
  }
}

function addressOf(params: Params, run: Run): { readonly agentId: string; readonly sessionKey?: string } {
  const [asked, session] = [wordOf(params, 'agentId'), wordOf(params, 'sessionKey')];
  const agents = run.get(Agents);
  const agentId = agents.sessionAgent({ agentId: asked, sessionKey: session });
  if (agents.own(agentId)) return { agentId, ...(session && { sessionKey: keyIn(agentId, session) }) };
  const near = nearest(agentId, agents.ids);
  throw refusal(
    404,
    'AGENT_UNKNOWN',
    `there is no agent "${agentId}"; ${near ? `did you mean "${near}"?` : `there are ${agents.ids.join(', ')}`}`,
  );
}

function wordOf(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^[^\p{Cc}]{1,500}$/u.test(value)) return value;
  throw refusal(400, 'FAILOVER_PARAMS', `"${name}" must be 1 to 500 characters on one line`);
}
