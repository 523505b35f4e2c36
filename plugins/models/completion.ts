import { type EnterRun, Host, messageOf, type Run } from '../../kernel/index.ts';
import type { Usage } from '../sessions/contract.ts';
import {
  AdapterFor,
  AdmitRequest,
  attemptOf,
  type Attempt,
  type Model,
  type ModelEvent,
  type ModelFailure,
  type ModelReply,
  type ModelRequest,
  noUsage,
  RequestEnded,
  type UnsignedRequest,
} from './contract.ts';
import { AuthProfiles } from '../auth-profiles/contract.ts';
import { searchOf } from '../policy/contract.ts';
import type { SecretInput } from '../secrets/contract.ts';
import { explain, type Advice } from './failure.ts';
import { withKey } from './key.ts';
import { envKey, known, type KnownProvider } from './known.ts';
import { withShortCalls } from './short-calls.ts';
import { whereIs } from './whereabouts.ts';

/** The keys of the newest config, in a lease: a rotated key is used by runs in flight, a removed one is not. */
export interface Keys {
  table: ReadonlyMap<string, SecretInput | undefined>;
}

/** What is newer than the run, which is pinned to its generation. */
export interface Newest {
  readonly keys: Keys;
  readonly enter: EnterRun;
}

/** One attempt, if it is admitted; whoever admitted it is told of its end. */
export async function completeOnce(
  run: Run,
  { keys, enter }: Newest,
  asked: UnsignedRequest,
  on: (event: ModelEvent) => void,
): Promise<ModelReply> {
  const request = await withSearch(run, enter, suited(asked));
  const refused = await admission(run, request);
  if (refused) return { message: attemptOf(request.model, {}, refused).message, failure: refused };
  const began = performance.now();
  let heard = 0;
  const hear = (event: ModelEvent) => {
    heard += event.delta.length;
    on(event);
  };
  const reply = await send(run, keys, request, hear);
  await run.call(RequestEnded, { request, reply, ms: performance.now() - began, heard });
  return reply;
}

/** SPEC 7.5: decided at each attempt, by the model that is asked. What it cannot do would be refused, or ignored at best. */
function suited({ thinking, temperature, maxTokens, tools, messages, ...rest }: UnsignedRequest): UnsignedRequest {
  const { model } = rest;
  return {
    ...rest,
    messages: messages.map(withShortCalls),
    ...(temperature !== undefined && takesTemperature(model) && { temperature }),
    tools: model.compat?.supportsTools === false ? [] : tools,
    ...(thinking !== undefined && model.reasoning && { thinking }),
    ...(maxTokens !== undefined && { maxTokens: Math.min(maxTokens, model.maxTokens) }),
  };
}

/** OpenAI's models that think refuse it, whether or not they are to think. */
function takesTemperature({ api, reasoning, compat }: Model): boolean {
  const said = compat?.['supportsTemperature'];
  return typeof said === 'boolean' ? said : !(reasoning && api.startsWith('openai-'));
}

/** By the model that is asked, which may be another than the turn's. */
async function withSearch(run: Run, enter: EnterRun, { search, ...rest }: UnsignedRequest): Promise<UnsignedRequest> {
  const { provider, id: model, compat } = rest.model;
  const mayCall = search && compat?.supportsTools !== false;
  const native = mayCall ? await searchOf(run.as({ subject: { ...run.subject, provider, model } }), enter) : undefined;
  return native ? { ...rest, search: native.settings ?? {} } : rest;
}

async function admission(run: Run, request: UnsignedRequest): Promise<ModelFailure | undefined> {
  try {
    return await run.call(AdmitRequest, request);
  } catch (cause) {
    return { code: 'MODEL_NOT_ADMITTED', message: `the request was not sent: ${messageOf(cause)}` };
  }
}

/** Whoever asks without a credential (a summary, a plugin) is billed to the profile that a turn would begin with. */
async function billed(run: Run, request: UnsignedRequest): Promise<UnsignedRequest> {
  const { credential, model, sessionId } = request;
  const profiles = credential ? undefined : run.find(AuthProfiles);
  const [first] = profiles?.standing(run, { provider: model.provider, model: model.id, sessionId }) ?? [];
  const found = first && (await profiles?.credential(run, first.profile).catch(() => undefined)); // then the provider's own key, which says what it lacks
  return found ? { ...request, credential: found } : request;
}

/** Adapter by protocol, key resolved now, failure told in words, cost counted. */
async function send(run: Run, keys: Keys, unsigned: UnsignedRequest, on: (event: ModelEvent) => void): Promise<ModelReply> {
  const request = await billed(run, unsigned);
  const { model, credential } = request;
  const provider = knownOf(model);
  const input = credential?.apiKey ?? (keys.table.get(model.provider) || (provider && envKey(provider, run.get(Host).env)?.value));
  const { apiKey, ...attempt } = await withKey(run, { input, model }, (key) => tryOnce(run, { ...request, apiKey: key }, on, provider));
  const message = { ...attempt.message, usage: priced(plausible(attempt.message.usage), model.cost) };
  if (!attempt.failure) return { message };
  const failure = explain(model, attempt.failure, adviceOf(run, request, keys, provider), apiKey);
  return { message: { ...message, errorMessage: failure.message }, failure };
}

async function tryOnce(run: Run, request: ModelRequest, on: (event: ModelEvent) => void, provider?: KnownProvider): Promise<Attempt> {
  const { model } = request;
  try {
    const adapter = await run.call(AdapterFor, model.api);
    if (!adapter) {
      const message = `speaks "${model.api}", which no live plugin does; enable models-openai or models-pi`;
      return attemptOf(model, {}, { code: 'ADAPTER_MISSING', message });
    }
    if (provider?.keys.length && !request.apiKey) return attemptOf(model, {}, { code: 'MODEL_NO_KEY', message: '' });
    return await adapter.complete(request, on);
  } catch (cause) {
    return attemptOf(model, {}, { code: 'ADAPTER_FAILED', message: `could not be asked: ${messageOf(cause)}`, cause });
  }
}

/** By name and address: a key from the environment goes to no other host than its provider's. */
const knownOf = (model: Model) =>
  known.find(({ id, baseUrl }) => id === model.provider && URL.parse(model.baseUrl)?.origin === new URL(baseUrl).origin);

function adviceOf(run: Run, { model, credential }: UnsignedRequest, keys: Keys, provider: KnownProvider | undefined): Advice {
  const path = `models.providers.${model.provider}`;
  const configured = keys.table.has(model.provider);
  const at = (field: string) => whereIs(run, `${path}.${field}`);
  const variables = provider?.keys.join(' or ');
  return {
    url: configured ? at('baseUrl') : `the network's way to ${URL.parse(model.baseUrl)?.origin ?? model.baseUrl}`,
    key: credential
      ? `auth profile "${credential.profile}"`
      : configured
        ? [at('apiKey'), variables].filter(Boolean).join(' or ')
        : (variables ?? at('apiKey')),
  };
}

/** No request takes so many tokens. */
const mostTokens = 100_000_000;

/** Who counts in fractions, below zero or absurdly has told nothing, whatever adapter it came through. */
function plausible(usage: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, totalTokens } = usage;
  const isCount = (value: number) => Number.isInteger(value) && value >= 0 && value <= mostTokens;
  return [input, output, cacheRead, cacheWrite, totalTokens].every(isCount) ? usage : noUsage;
}

function priced(usage: Usage, cost: Model['cost']): Usage {
  if (!cost) return usage;
  const { input, output, cacheRead, cacheWrite } = usage;
  const total = input * cost.input + output * cost.output + cacheRead * cost.cacheRead + cacheWrite * cost.cacheWrite;
  return { ...usage, cost: { total: total / 1_000_000 } };
}
