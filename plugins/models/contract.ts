import { bail, notify, service, waterfall, type JsonSchema, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import type { SearchSettings } from '../policy/contract.ts';
import type { AssistantMessage, AssistantPart, Message, StopReason, ToolCallPart, Usage } from '../sessions/contract.ts';

export type Api = 'openai-completions' | 'openai-responses' | 'anthropic-messages' | 'google-generative-ai' | (string & {});

export interface Model {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  readonly api: Api;
  readonly baseUrl: string;
  /** Tokens. */
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly input: readonly ('text' | 'image')[];
  readonly reasoning: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly compat?: { readonly supportsTools?: boolean; readonly [quirk: string]: unknown };
  /** US dollars per million tokens. */
  readonly cost?: { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number };
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface ModelRequest {
  readonly model: Model;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly signal: AbortSignal;
  /** Resolved per request, so that a rotated key binds runs in flight; undefined where none is needed. */
  readonly apiKey: string | undefined;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly thinking?: string;
  /**
   * The provider's own web search is to be used (SPEC 3.2). Whoever asks for a turn gives `{}`; `models` takes it out again where the
   * config does not turn it on, or policy lets the run not search.
   */
  readonly search?: SearchSettings;
  /** Stable per session: providers route caches by it. */
  readonly sessionId?: string;
}

/** Deltas as they come. `index` counts the content parts of the message. */
export type ModelEvent =
  | { readonly type: 'text'; readonly index: number; readonly delta: string }
  | { readonly type: 'thinking'; readonly index: number; readonly delta: string }
  | { readonly type: 'toolCall'; readonly index: number; readonly id: string; readonly name: string; readonly delta: string };

/** SPEC 7.3: what a failure means for the next attempt. What no table knows stays `unknown`. */
export type FailureReason =
  | 'rate_limit'
  | 'auth'
  | 'billing'
  | 'timeout'
  | 'overloaded'
  | 'format'
  | 'context_overflow'
  | 'model_not_found'
  | 'unknown';

/**
 * What went wrong with one attempt:
 * `MODEL_UNREACHABLE` no answer · `MODEL_TIMEOUT` none in time · `MODEL_HTTP` an error answer (`status`, `body`) ·
 * `MODEL_STREAM_CUT` the reply broke off · `MODEL_BAD_REPLY` not what the protocol says · `MODEL_REFUSED` a content
 * filter · `MODEL_ABORTED` our own signal · `MODEL_NO_KEY` · `ADAPTER_MISSING` nothing here speaks the model's api ·
 * `ADAPTER_FAILED` it threw.
 */
export interface ModelFailure {
  readonly code:
    | 'MODEL_UNREACHABLE'
    | 'MODEL_TIMEOUT'
    | 'MODEL_HTTP'
    | 'MODEL_STREAM_CUT'
    | 'MODEL_BAD_REPLY'
    | 'MODEL_REFUSED'
    | 'MODEL_ABORTED'
    | 'MODEL_NO_KEY'
    | 'ADAPTER_MISSING'
    | 'ADAPTER_FAILED'
    | (string & {});
  /** One line for people: what, where, what to do. */
  readonly message: string;
  /** Absent where nobody failed: our own signal, or a request that was never sent. */
  readonly reason?: FailureReason;
  /** The error is this model's alone: others of the same provider and key may well answer. */
  readonly perModel?: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The start of an error answer's body. */
  readonly body?: string;
}

export interface ModelReply {
  /**
   * What had arrived of text is kept. A tool call that the length limit cut is one with `invalidArguments`. With a failure
   * `stopReason` is `error` or `aborted` and no tool call is in it. Any call that is in it waits for its result.
   */
  readonly message: AssistantMessage;
  readonly failure?: ModelFailure;
  /** Where more than one attempt was made: what all of them used. Absent: what the message says. */
  readonly spent?: Usage;
  /** Where it was waited until a model that was busy would take the request. */
  readonly waitedMs?: number;
}

const invalidKey = '__invalid';

/** The `arguments` of a tool call whose text is no JSON object, for it is wrong or was cut, so that the model can be told. */
export const invalidArguments = (raw: string): ToolCallPart['arguments'] => ({ [invalidKey]: raw });

/** The raw text where a call's arguments are no JSON object: answer it with an error result, do not call the tool. */
export function invalidArgumentsOf(call: Pick<ToolCallPart, 'arguments'>): string | undefined {
  const raw = call.arguments[invalidKey];
  return typeof raw === 'string' && Object.keys(call.arguments).length === 1 ? raw : undefined;
}

/** What an adapter knows of a failure: `message` is what happened, in a few words; `Models.complete` makes the line for people. */
export interface AttemptFailure extends ModelFailure {
  /** Of an error answer; `Retry-After` is read from them. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The network's own error: host, port and reason are read from it. */
  readonly cause?: unknown;
}

export interface Attempt {
  readonly message: AssistantMessage;
  readonly failure?: AttemptFailure;
}

/** Speaks one wire protocol. Never throws for what the far side does: that is `failure`. */
export interface ModelAdapter {
  readonly api: Api;
  complete(request: ModelRequest, on: (event: ModelEvent) => void): Promise<Attempt>;
}

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** What an adapter returns. A failure sets the stop reason and leaves no tool call in the message. */
export function attemptOf(
  model: Model,
  reply: { readonly content?: readonly AssistantPart[]; readonly usage?: Usage; readonly stopReason?: StopReason },
  failure?: AttemptFailure,
): Attempt {
  const { content = [], usage = noUsage, stopReason = 'stop' } = reply;
  const base = { role: 'assistant', api: model.api, provider: model.provider, model: model.id, usage, timestamp: Date.now() } as const;
  if (!failure) return { message: { ...base, content, stopReason } };
  const kept = content.filter((part) => part.type !== 'toolCall');
  const ended = failure.code === 'MODEL_ABORTED' ? 'aborted' : 'error';
  return { message: { ...base, content: kept, stopReason: ended, errorMessage: failure.message }, failure };
}

/** Which adapter speaks this protocol. */
export const AdapterFor = bail<Api, ModelAdapter>('models.adapter');
/** Models that plugins bring, beside those of the config. */
export const ModelCatalog = waterfall<readonly Model[]>('models.catalog');

export interface ModelChoice {
  readonly model: Model;
  /** What chose it and how to choose otherwise. */
  readonly why: string;
  /** The same where there is room for a few words. */
  readonly brief?: string;
  /** SPEC 7.4: the model that the config names first and that cannot be had; `model` is the first of its fallbacks that can. */
  readonly missing?: MissingModel;
}

export interface MissingModel {
  /** As the config has it. */
  readonly ref: string;
  readonly why: string;
  readonly problem: string;
}

/** What is known of a provider by its name. */
export interface ProviderFacts {
  readonly isKnown: boolean;
  /** Of one that is not known: the name that was meant perhaps, and those that need no block in the config. */
  readonly near?: string | undefined;
  readonly known: readonly string[];
  /** Where the key is that is used while no auth profile is there: a variable, or a place of the config. */
  readonly ownKey?: string;
}

/** Whom a request is billed to: a key or token, and the name of the profile it is of. */
export interface Credential {
  readonly profile: string;
  readonly apiKey: string;
}

/** A request before its key is known. Without a `credential` the provider's own key is used: config, then environment. */
export type UnsignedRequest = Omit<ModelRequest, 'apiKey'> & { readonly credential?: Credential };

/** One reply wanted for a turn. `on` is told of what arrives: an answer whose text was told cannot be taken back. */
export interface ModelAsk {
  readonly request: UnsignedRequest;
  readonly on: (event: ModelEvent) => void;
}

/** How an agent wants its models to be asked, by its config. What the model that is asked cannot do is left out by `models`. */
export function wishesOf(run: Run, agentId: string): Pick<UnsignedRequest, 'thinking' | 'temperature' | 'maxTokens'> {
  const field = <T>(name: string) => run.find(Agents)?.field<T>(agentId, name);
  const thinking = field<string>('thinkingDefault') ?? 'off';
  const temperature = field<number>('params.temperature');
  const maxTokens = field<number>('params.maxTokens');
  return {
    ...(thinking !== 'off' && { thinking }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}

/**
 * The way from a turn to a reply. A plugin with a better way than one attempt (other profiles, other models, later)
 * answers first; `models` answers last, at stage 100, with one attempt. Never throws for what a provider does.
 */
export const AskModel = bail<ModelAsk, ModelReply>('models.ask');

/** Asked before every request to a provider, by whomever it is made (turns, compaction, probes): the first failure refuses it. */
export const AdmitRequest = bail<UnsignedRequest, ModelFailure>('models.admit');

/** Told after every request that was admitted, with the same request object. */
export interface RequestEnd {
  readonly request: UnsignedRequest;
  readonly reply: ModelReply;
  /** Milliseconds. */
  readonly ms: number;
  /** Characters of the answer that came, also of what is not kept of it, such as a tool call that was cut. */
  readonly heard?: number;
}
export const RequestEnded = notify<RequestEnd>('models.ended');

/** Shared by all runs of a generation: each method takes the run it works for. */
export interface Models {
  list(run: Run): Promise<readonly Model[]>;
  /** `provider/id`; throws MODEL_UNKNOWN naming the nearest. */
  resolve(run: Run, ref: string): Promise<Model>;
  /** What was asked for, else the agent's own, the defaults', else what was found (config, a key in env or added, local server, demo). */
  choose(run: Run, agentId: string, asked?: string): Promise<ModelChoice>;
  provider(run: Run, provider: string): Promise<ProviderFacts>;
  /** One attempt: streams a request through the adapter of the model's api, with its key resolved now. Never throws. */
  complete(run: Run, request: UnsignedRequest, on: (event: ModelEvent) => void): Promise<ModelReply>;
}

export const Models = service<Models>('models');
