import type { IncomingHttpHeaders } from 'node:http';
import type { Agents } from '../agents/contract.ts';
import { agentOfKey, sessionKey as keyOf } from '../sessions/contract.ts';
import { badRequest } from './api-error.ts';
import { type ClientMessage, noClientTools, readMessages } from './messages.ts';
import { agentOfModel, modelNames } from './model-names.ts';

/** A `POST /v1/chat/completions`, checked. */
export interface ChatRequest {
  /** As the client wrote it. */
  readonly model: string;
  readonly agentId: string;
  /** Absent where the request stands alone. */
  readonly sessionKey: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly messages: readonly ClientMessage[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Parameters that have no effect here. */
  readonly ignored: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const known = new Set(['model', 'messages', 'stream', 'stream_options', 'user', 'tools', 'functions']);

export function readRequest(body: unknown, headers: IncomingHttpHeaders, agents: Agents, maxImages: number): ChatRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('the body must be a JSON object');
  const fields = body as Fields;
  for (const name of ['tools', 'functions']) if (isFilled(fields[name])) throw noClientTools(name);
  const { model, stream, stream_options: options } = fields;
  if (typeof model !== 'string') throw badRequest(`"model" is missing; it names an agent: ${modelNames(agents).join(', ')}`);
  if (stream != null && typeof stream !== 'boolean') throw badRequest('"stream" must be true or false');
  return {
    model,
    ...addressOf(model, fields, headers, agents),
    idempotencyKey: word(headers['idempotency-key'], 'Idempotency-Key'),
    messages: readMessages(fields.messages, maxImages),
    stream: stream === true,
    includeUsage: (options as Fields | null | undefined)?.include_usage === true,
    ignored: Object.keys(fields).filter((name) => !known.has(name) && fields[name] != null),
  };
}

const isFilled = (value: unknown) => value != null && !(Array.isArray(value) && value.length === 0);

/** The agent by the model's name, or by the session's key where the name leaves it open. */
function addressOf(model: string, { user }: Fields, headers: IncomingHttpHeaders, agents: Agents) {
  const named = agentOfModel(model, agents);
  if (!named)
    throw badRequest(`there is no model "${model}"; here models are agents: ${modelNames(agents).join(', ')}`, 'model_not_found', 404);
  const header = ['x-instar-session-key', 'x-openclaw-session-key'].find((name) => headers[name] !== undefined);
  const key = word(header && headers[header], header ?? '') ?? userKey(word(user ?? undefined, '"user"'));
  const owner = key && agentOfKey(key);
  if (!key || !owner) return { agentId: named.agentId, sessionKey: key && keyOf(named.agentId, key) };
  if (!agents.ids.includes(owner)) throw badRequest(`session "${key}" is of agent "${owner}", which is not there`, 'agent_not_found', 404);
  if (named.explicit && owner !== named.agentId)
    throw badRequest(`session "${key}" is of agent "${owner}", the model names "${named.agentId}"`);
  return { agentId: owner, sessionKey: key };
}

const userKey = (user: string | undefined) => user && `openai-user:${user}`;

function word(value: unknown, what: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length <= 256 && /^[^\p{Cc}]+$/u.test(value)) return value;
  throw badRequest(`${what} must be 1 to 256 characters on one line`);
}
