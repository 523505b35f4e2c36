import type { Content } from '../../../kernel/index.ts';
import type { AssistantMessage, AssistantPart, Message, ToolCallPart, ToolResultMessage } from '../contract.ts';

/** What every provider shows a model, by how its bytes begin. Any other picture is refused, with the whole request. */
const pictures: Readonly<Record<string, RegExp>> = {
  'image/png': /^\x89PNG\r\n\x1a\n/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/gif': /^GIF8[79]a/,
  'image/webp': /^RIFF[^]{4}WEBP/,
};
/** Characters of base64: five megabytes, the smallest of the providers' limits. */
const largest = Math.floor((5 * 1024 * 1024) / 3) * 4;

/** Half a character pair is no text: a server that reads it refuses the request. */
export const whole = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

/** Of a line of a file only the kinds of its parts are certain. */
const isBlank = (text: unknown) => typeof text !== 'string' || !/\S/.test(text);

/** Without what is empty, or no provider takes; the very same list where all is well. */
export function soundContent(content: readonly Content[]): readonly Content[] {
  if (content.every(isSound)) return content;
  return content.flatMap((part) => (isSound(part) ? part : mended(part)));
}

/** A line of a file may hold anything in place of a part. */
const isSound = (part: Content | null | undefined) =>
  part?.type === 'text' ? !isBlank(part.text) && part.text.isWellFormed() : whatIsWrong(part) === undefined;

function mended(part: Content | null | undefined): readonly Content[] {
  if (part?.type !== 'text') return [{ type: 'text', text: `(${whatIsWrong(part)})` }];
  return isBlank(part.text) ? [] : [{ ...part, text: whole(part.text) }];
}

function whatIsWrong(part: unknown): string | undefined {
  const { type, data, mimeType } = (part ?? {}) as { readonly type?: unknown; readonly data?: unknown; readonly mimeType?: unknown };
  if (type !== 'image') return `a part of kind "${String(type).slice(0, 40)}", which cannot be shown`;
  return faultOfPicture(data, mimeType);
}

/** Why models are not shown a picture: its kind, its base64, its size, or bytes that are no such picture. Undefined where they are. */
export function faultOfPicture(data: unknown, mimeType: unknown): string | undefined {
  const type = String(mimeType);
  const signature = Object.hasOwn(pictures, type) ? pictures[type] : undefined;
  if (!signature) return `an image of type ${type.slice(0, 40)}, which models are not shown`;
  if (typeof data !== 'string' || !data || !/^[A-Za-z0-9+/]+={0,2}$/.test(data) || data.length % 4 !== 0)
    return 'an image that cannot be read';
  if (data.length > largest) return 'an image too large to be shown';
  if (signature.test(Buffer.from(data.slice(0, 16), 'base64').toString('latin1'))) return undefined;
  return `an image that cannot be read: its bytes are not those of ${type}`;
}

/** A message of which each part can stand in a request; the very same one where all is well. Of an assistant's message nothing may be left. */
export function soundMessage(message: Message): Message {
  if (message.role === 'assistant') return soundReply(message);
  if (message.role === 'toolResult') return soundResult(message);
  const { content } = message;
  if (typeof content === 'string' && !isBlank(content)) return content.isWellFormed() ? message : { ...message, content: whole(content) };
  const sound = typeof content === 'string' ? [] : soundContent(content);
  if (sound === content && sound.length) return message;
  return { ...message, content: sound.length ? sound : '(an empty message)' };
}

function soundResult(message: ToolResultMessage): ToolResultMessage {
  const content = soundContent(message.content);
  if (content === message.content && content.length) return message;
  return { ...message, content: content.length ? content : [{ type: 'text', text: '(no output)' }] };
}

function soundReply(message: AssistantMessage): AssistantMessage {
  const parts = leading(message.content.flatMap((part) => soundPart(part)));
  const isSame = parts.length === message.content.length && parts.every((part, i) => part === message.content[i]);
  return isSame ? message : { ...message, content: parts };
}

/** Without thinking at the end: where it leads to nothing, it is refused by those who signed it. */
export const leading = (parts: readonly AssistantPart[]): readonly AssistantPart[] =>
  parts.slice(0, parts.findLastIndex(({ type }) => type !== 'thinking') + 1);

function soundPart(part: AssistantPart): AssistantPart | readonly [] {
  if (part.type === 'toolCall') return soundCall(part);
  if (hasOddSignature(part)) return soundPart(unsigned(part));
  if (part.type === 'thinking' && typeof part.thinking !== 'string') return [];
  if (part.type === 'thinking') return part.thinking.isWellFormed() ? part : { ...part, thinking: whole(part.thinking) };
  if (part.type !== 'text') return [];
  // A provider's signature may stand on no text at all, and is wanted back.
  if (isBlank(part.text) && !('textSignature' in part && part.textSignature && typeof part.text === 'string')) return [];
  return part.text.isWellFormed() ? part : { ...part, text: whole(part.text) };
}

const signatures = ['thinkingSignature', 'textSignature', 'thoughtSignature'];

const hasOddSignature = (part: AssistantPart) =>
  signatures.some((name) => !['string', 'undefined'].includes(typeof (part as unknown as Readonly<Record<string, unknown>>)[name]));

const unsigned = (part: AssistantPart): AssistantPart =>
  Object.fromEntries(Object.entries(part).filter(([name]) => !signatures.includes(name))) as unknown as AssistantPart;

function soundCall(call: ToolCallPart): ToolCallPart {
  const name = soundName(typeof call.name === 'string' ? call.name : '');
  const args = soundArguments(call.arguments);
  const id = typeof call.id === 'string' ? call.id : '';
  return name === call.name && args === call.arguments && id === call.id ? call : { ...call, id, name, arguments: args };
}

/** A name that a model made up may be refused as part of a request, though it came in a reply. */
export const soundName = (name: string): string => {
  if (/^[A-Za-z_][\w-]{0,63}$/.test(name)) return name;
  const known = name.replace(/[^\w-]/g, '_').slice(0, 63);
  return /^[A-Za-z_]/.test(known) ? known : `_${known}`;
};

function soundArguments(args: unknown): ToolCallPart['arguments'] {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args === undefined || args === null ? {} : { value: args };
  const json = JSON.stringify(args);
  // What is half a pair is written as an escape, all else as it is.
  return json.includes('\\ud')
    ? (JSON.parse(json, (_key, value: unknown) => (typeof value === 'string' ? whole(value) : value)) as ToolCallPart['arguments'])
    : (args as ToolCallPart['arguments']);
}
