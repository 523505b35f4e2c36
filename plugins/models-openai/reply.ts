import { randomUUID } from 'node:crypto';
import { invalidArguments, noUsage, type AttemptFailure, type ModelEvent } from '../models/contract.ts';
import type { AssistantPart, StopReason, Usage } from '../sessions/contract.ts';
import { parseArguments } from './arguments.ts';

type Json = Readonly<Record<string, unknown>>;

interface OpenText {
  readonly type: 'text' | 'thinking';
  text: string;
  readonly field: string;
}

interface OpenCall {
  readonly type: 'toolCall';
  id: string;
  name: string;
  raw: string;
  /** What the server calls it; two calls of one index are told apart by it. */
  readonly wireId: unknown;
  readonly at: unknown;
}

export interface Collected {
  readonly content: readonly AssistantPart[];
  readonly usage: Usage;
  readonly stopReason: StopReason;
  readonly failure?: AttemptFailure;
}

/** Puts a reply together from its chunks, and tells each delta as it comes. Everything in them is checked: it is foreign. */
export function collector(on: (event: ModelEvent) => void, idsBefore: () => ReadonlySet<string>) {
  const parts: (OpenText | OpenCall)[] = [];
  let usage = noUsage;
  let finish: string | undefined;
  let done = false;
  let failure: AttemptFailure | undefined;

  function take(data: string): void {
    if (done || failure) return;
    if (data === '[DONE]') {
      done = true;
      return;
    }
    const chunk = objectOf(data);
    if (!chunk) failure = { code: 'MODEL_BAD_REPLY', message: `a chunk that is no JSON object: ${data.slice(0, 80)}` };
    else takeChunk(chunk);
  }

  function takeChunk(chunk: Json): void {
    const error = errorIn(chunk);
    if (error !== undefined) failure = failureIn(error);
    const [choice] = objects(chunk['choices']);
    const counted = chunk['usage'] ?? choice?.['usage'];
    if (isObject(counted)) usage = usageOf(counted);
    // `message` where a server answers whole though a stream was asked for.
    const delta = choice?.['delta'] ?? choice?.['message'];
    if (isObject(delta)) takeDelta(delta);
    if (typeof choice?.['finish_reason'] === 'string') finish = choice['finish_reason'];
  }

  function takeDelta(delta: Json): void {
    for (const field of ['reasoning_content', 'reasoning', 'reasoning_text']) {
      const thought = delta[field];
      if (typeof thought !== 'string' || thought === '') continue;
      say('thinking', thought, field);
      break; // Some servers send the same text in two fields.
    }
    const content = delta['content'];
    if (typeof content === 'string') say('text', content, '');
    else for (const piece of objects(content)) takePiece(piece);
    const calls = objects(delta['tool_calls']);
    for (const call of calls) takeCall(call);
    if (isObject(delta['function_call']) && calls.length === 0) failure ??= oldForm;
  }

  /** Content in typed pieces: Mistral's reasoning models. */
  function takePiece(piece: Json): void {
    if (typeof piece['text'] === 'string') return say('text', piece['text'], '');
    for (const { text } of objects(piece['thinking'])) if (typeof text === 'string') say('thinking', text, '');
  }

  function say(type: 'text' | 'thinking', delta: string, field: string): void {
    if (delta === '') return;
    let last = parts.at(-1);
    if (last?.type !== type) parts.push((last = { type, text: '', field }));
    last.text += delta;
    on({ type, index: parts.length - 1, delta });
  }

  function takeCall(delta: Json): void {
    const said = isObject(delta['function']) ? delta['function'] : {};
    const name = typeof said['name'] === 'string' ? said['name'] : '';
    const raw = said['arguments'];
    const text = typeof raw === 'string' ? raw : raw === undefined || raw === null ? '' : JSON.stringify(raw);
    const call = callFor(delta, name);
    if (!call) return;
    if (call.name === '') call.name = name;
    call.raw += text;
    on({ type: 'toolCall', index: parts.indexOf(call), id: call.id, name: call.name, delta: text });
  }

  /** By index; but some servers give every call index 0, and some give none. A new id with a name begins a new call. */
  function callFor({ id, index }: Json, name: string): OpenCall | undefined {
    const calls = parts.filter((part) => part.type === 'toolCall');
    const open = index === undefined ? calls.at(-1) : calls.findLast((call) => call.at === index);
    const isNew = !open || (name !== '' && (id ? open.wireId !== id : index === undefined));
    if (!isNew) return open;
    if (calls.length >= 256) return undefined;
    const call: OpenCall = { type: 'toolCall', id: freeId(id), name, raw: '', wireId: id, at: index };
    parts.push(call);
    return call;
  }

  function freeId(id: unknown): string {
    const taken = (each: string) => idsBefore().has(each) || parts.some((part) => part.type === 'toolCall' && part.id === each);
    if (typeof id === 'string' && id !== '' && !taken(id)) return id;
    return `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
  }

  /** What came, once nothing more will. */
  function end(): Collected {
    const short = finish !== undefined && lengthEndings.includes(finish);
    // A stream may end without a word on how: as long as anything came, that is its end.
    const ended = finish !== undefined || (done && parts.some(({ type }) => type !== 'thinking'));
    const nameless = parts.some((part) => part.type === 'toolCall' && part.name === '');
    const broken = failure ?? (ended ? (refusal(finish) ?? (nameless ? unnamed : undefined)) : cut());
    const mayBeCut = short || finish === undefined;
    const content = parts.map((part, i) => closed(part, mayBeCut && i === parts.length - 1));
    const calls = content.some(({ type }) => type === 'toolCall');
    const stopReason = short ? 'length' : calls ? 'toolUse' : 'stop';
    return { content, usage, stopReason, ...(broken && { failure: broken }) };
  }

  const cut = (): AttemptFailure =>
    parts.length > 0
      ? { code: 'MODEL_STREAM_CUT', message: `the stream ended ${where(parts.at(-1))}` }
      : { code: 'MODEL_STREAM_CUT', message: 'the stream ended before the reply began' };

  return { take, end, isOver: () => done, isFaulty: () => failure !== undefined };
}

const where = (last: OpenText | OpenCall | undefined) =>
  last?.type === 'toolCall' ? `inside the arguments of "${last.name}"` : 'inside the reply';

/** A call that was cut before its first argument has none to run with, as little as one cut later: the model is told. */
function closed(part: OpenText | OpenCall, mayBeCut: boolean): AssistantPart {
  if (part.type === 'toolCall') {
    const { type, id, name, raw } = part;
    return { type, id, name, arguments: mayBeCut && raw.trim() === '' ? invalidArguments(raw) : parseArguments(raw) };
  }
  const { type, text, field } = part;
  return type === 'text' ? { type, text } : { type, thinking: text, ...(field && { thinkingSignature: field }) };
}

const unnamed: AttemptFailure = { code: 'MODEL_BAD_REPLY', message: 'a tool call without a name' };

const oldForm: AttemptFailure = {
  code: 'MODEL_BAD_REPLY',
  message: 'a call in the old form "function_call", which "tool_calls" has replaced',
};

/** The second is Mistral's, of a full window. */
const lengthEndings: readonly string[] = ['length', 'model_length'];
const endings = ['stop', 'tool_calls', 'function_call', 'end', 'eos', ...lengthEndings];

function refusal(finish: string | undefined): AttemptFailure | undefined {
  if (finish === undefined || endings.includes(finish)) return undefined;
  if (finish === 'content_filter') return { code: 'MODEL_REFUSED', message: 'a content filter ended the reply' };
  return { code: 'MODEL_BAD_REPLY', message: `the reply ended with "${finish.slice(0, 40)}"` };
}

/** An error among the chunks: wrapped as OpenAI does it, or bare as vLLM sends it. A chunk of a reply has choices, and no message. */
function errorIn(chunk: Json): unknown {
  if (chunk['error']) return chunk['error'];
  const isBare = chunk['choices'] === undefined && ['message', 'detail'].some((name) => typeof chunk[name] === 'string');
  return isBare ? chunk : undefined;
}

function failureIn(error: unknown): AttemptFailure {
  const body = JSON.stringify({ error }).slice(0, 4096);
  const code = isObject(error) ? Number(error['code'] ?? error['status']) : NaN;
  const status = code >= 400 && code < 600 ? { status: code } : {};
  return { code: 'MODEL_HTTP', message: 'an error in the stream', body, ...status };
}

function usageOf(counted: Json): Usage {
  const details = isObject(counted['prompt_tokens_details']) ? counted['prompt_tokens_details'] : {};
  const count = (value: unknown) => (typeof value === 'number' && value >= 0 ? value : 0);
  const prompt = count(counted['prompt_tokens']);
  const output = count(counted['completion_tokens']);
  const cacheRead = Math.min(prompt, count(details['cached_tokens'] ?? counted['prompt_cache_hit_tokens']));
  const cacheWrite = Math.min(prompt - cacheRead, count(details['cache_write_tokens']));
  return { input: prompt - cacheRead - cacheWrite, output, cacheRead, cacheWrite, totalTokens: prompt + output };
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const objects = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

function objectOf(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // The caller says what is wrong.
    return undefined;
  }
}
