import { createHash } from 'node:crypto';
import type { Content } from '../../kernel/index.ts';
import type { ModelRequest, ToolSpec } from '../models/contract.ts';
import type { AssistantMessage, Message, ToolResultMessage } from '../sessions/contract.ts';
import { whole } from '../sessions/contract/content.ts';
import { portable } from '../sessions/contract/portable.ts';
import { quirksOf, type Quirks } from './quirks.ts';

/**
 * The request's body. Each message is turned into bytes once and kept: a long history costs a copy. (Joining strings in
 * their place costs twenty times that: V8 flattens them one by one.)
 */
export function bodyOf(request: ModelRequest): Buffer {
  const { model, tools } = request;
  const quirks = quirksOf(model);
  let head = `{"model":${JSON.stringify(model.id)},"stream":true`;
  if (quirks.usage) head += ',"stream_options":{"include_usage":true}';
  if (tools.length > 0 && quirks.tools) head += `,"tools":[${tools.map(toolJson).join(',')}]`;
  if (request.temperature !== undefined) head += `,"temperature":${request.temperature}`;
  if (quirks.effort) head += effortOf(request.thinking);
  if (quirks.cacheKey && request.sessionId) head += `,"prompt_cache_key":${JSON.stringify(request.sessionId)}`;
  head += ',"messages":[';
  if (request.system) head += JSON.stringify({ role: 'system', content: whole(request.system) });
  const { bytes, pixels } = messagesOf(request, quirks);
  const size = head.length + bytes.reduce((sum, each) => sum + each.length, 0) - pixels;
  const parts = [Buffer.from(head), ...bytes, Buffer.from(`],"${quirks.maxTokensField}":${room(request, size)}}`)];
  // Each message begins with its comma.
  if (!request.system && bytes[0]) parts[1] = bytes[0].subarray(1);
  return Buffer.concat(parts);
}

/** Some servers refuse what might not fit: the answer gets what the input leaves, counted with three bytes a token. */
function room({ model, maxTokens }: ModelRequest, size: number): number {
  const left = model.contextWindow - Math.ceil(size / 3);
  return Math.min(maxTokens ?? model.maxTokens, Math.max(left, 1024));
}

function effortOf(thinking: string | undefined): string {
  if (!thinking || thinking === 'off') return '';
  return `,"reasoning_effort":"${['minimal', 'low', 'medium'].includes(thinking) ? thinking : 'high'}"`;
}

const toolJsons = new WeakMap<object, { readonly name: string; readonly description: string; readonly json: string }>();

/** Kept by the schema object: callers may make the spec around it anew for every request. */
function toolJson({ name, description, parameters }: ToolSpec): string {
  const kept = toolJsons.get(parameters);
  if (kept && kept.name === name && kept.description === description) return kept.json;
  const json = JSON.stringify({ type: 'function', function: { name, description, parameters } });
  toolJsons.set(parameters, { name, description, json });
  return json;
}

/** `images` of a tool result go into a user message behind the last result of the round: the protocol has no other place. */
interface Converted {
  /** Empty where nothing is to be sent. */
  readonly json: string;
  readonly images?: string;
}

interface Wired {
  readonly flavour: number;
  readonly bytes: Buffer | undefined;
  readonly images: string | undefined;
  /** Bytes that are pictures: they count as far fewer tokens than text. */
  readonly pixels: number;
}

const wired = new WeakMap<Message, Wired>();

/** OpenAI refuses longer ids; those of its own responses protocol are. */
const ids = { longest: 40 };

function messagesOf({ messages }: ModelRequest, quirks: Quirks): { readonly bytes: readonly Buffer[]; readonly pixels: number } {
  const flavour = Number(quirks.images) + 2 * Number(quirks.thinkingBack) + 4 * Number(quirks.shortIds);
  const parts: Buffer[] = [];
  let images: string[] = [];
  let pixels = 0;
  const flush = () => {
    if (images.length > 0) parts.push(Buffer.from(`,{"role":"user","content":[${images.join(',')}]}`));
    images = [];
  };
  for (const message of portable(messages, ids)) {
    if (message.role !== 'toolResult') flush();
    const known = wired.get(message);
    const wire = known?.flavour === flavour ? known : wireOf(message, quirks, flavour);
    if (wire.bytes) parts.push(wire.bytes);
    if (wire.images) images.push(wire.images);
    pixels += wire.pixels;
  }
  flush();
  return { bytes: parts, pixels };
}

/** Kept for as long as the message is: a piece of Node's pool, as `Buffer.from` cuts it, would keep 64 KB of others' bytes with it. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function wireOf(message: Message, quirks: Quirks, flavour: number): Wired {
  const { json, images } = convert(message, quirks);
  const pixels = quirks.images ? pixelsOf(message) : 0;
  const wire = { flavour, bytes: json ? ownBytes(`,${json}`) : undefined, images, pixels };
  wired.set(message, wire);
  return wire;
}

/** All but some kilobytes of each picture, which stand for its tokens. */
function pixelsOf({ role, content }: Message): number {
  if (role === 'assistant' || typeof content === 'string') return 0;
  return content.reduce((sum, each) => sum + (each.type === 'image' ? Math.max(0, each.data.length - 6000) : 0), 0);
}

function convert(message: Message, quirks: Quirks): Converted {
  if (message.role === 'assistant') return { json: assistantJson(message, quirks) };
  if (message.role === 'toolResult') return resultOf(message, quirks);
  return { json: JSON.stringify({ role: 'user', content: contentOf(message.content, quirks) }) };
}

/** Plain text goes as a string: many servers take nothing else. */
function contentOf(content: string | readonly Content[], quirks: Quirks): unknown {
  if (typeof content === 'string') return content;
  if (quirks.images && content.some(({ type }) => type === 'image')) return content.map(part);
  return textOf(content);
}

const part = (content: Content) =>
  content.type === 'text' ? content : { type: 'image_url', image_url: { url: `data:${content.mimeType};base64,${content.data}` } };

const textOf = (content: readonly Content[]) =>
  content.map((each) => (each.type === 'text' ? each.text : '(an image, which this model cannot see)')).join('\n');

/** Empty where a failed reply left nothing: an empty message is refused. */
function assistantJson({ content }: AssistantMessage, quirks: Quirks): string {
  const texts = content.flatMap((each) => (each.type === 'text' && each.text.trim() ? each.text : []));
  const calls = content.flatMap((each) =>
    each.type === 'toolCall'
      ? { id: idOf(each.id, quirks), type: 'function', function: { name: each.name, arguments: JSON.stringify(each.arguments) } }
      : [],
  );
  if (texts.length === 0 && calls.length === 0) return '';
  const thinking = content.flatMap((each) => (each.type === 'thinking' ? each.thinking : [])).join('\n');
  return JSON.stringify({
    role: 'assistant',
    content: texts.length > 0 ? texts.join('\n') : null,
    ...(quirks.thinkingBack && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  });
}

function resultOf({ toolCallId, content }: ToolResultMessage, quirks: Quirks): Converted {
  const images = quirks.images ? content.filter(({ type }) => type === 'image') : [];
  const said = images.length > 0 ? content.filter(({ type }) => type === 'text') : content;
  const text = textOf(said) || (images.length > 0 ? '(the image follows)' : '(no output)');
  const json = JSON.stringify({ role: 'tool', tool_call_id: idOf(toolCallId, quirks), content: text });
  return images.length > 0 ? { json, images: images.map((image) => JSON.stringify(part(image))).join(',') } : { json };
}

const idOf = (id: string, { shortIds }: Quirks) =>
  !shortIds || /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
