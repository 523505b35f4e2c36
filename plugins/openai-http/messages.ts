import type { Content } from '../../kernel/index.ts';
import { clientInstructions, withoutMarks } from '../prompt/contract.ts';
import { faultOfPicture, type Message, type Usage } from '../sessions/contract.ts';
import { badRequest } from './api-error.ts';

/** A message of a client, checked. */
export interface ClientMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: readonly Content[];
}

export function readMessages(value: unknown, maxImages: number): readonly ClientMessage[] {
  if (!Array.isArray(value) || value.length === 0) throw badRequest('"messages" must be a list with at least one message');
  const messages = value.map((message, i) => readMessage(message, `messages[${i}]`));
  const images = messages.reduce((sum, { content }) => sum + content.filter(({ type }) => type === 'image').length, 0);
  if (images > maxImages) throw badRequest(`${images} images are more than the ${maxImages} that are taken`);
  return messages;
}

const roles: Readonly<Record<string, ClientMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

function readMessage(value: unknown, at: string): ClientMessage {
  const { role: asked, content, tool_calls: calls } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (asked === 'tool' || asked === 'function' || (Array.isArray(calls) && calls.length > 0)) throw noClientTools(at);
  const role = typeof asked === 'string' && Object.hasOwn(roles, asked) ? roles[asked] : undefined;
  if (!role) throw badRequest(`${at}.role must be system, developer, user or assistant`);
  if (typeof content === 'string') return { role, content: text(content) };
  if (role === 'assistant' && content == null) return { role, content: [] };
  if (!Array.isArray(content)) throw badRequest(`${at}.content must be a string or a list of parts`);
  return { role, content: content.flatMap((part, i) => readPart(part, `${at}.content[${i}]`)) };
}

export const noClientTools = (at: string) =>
  badRequest(
    `${at}: tools of the client are not taken; an agent uses its own tools, and its policy decides on them`,
    'tools_not_supported',
  );

function readPart(value: unknown, at: string): readonly Content[] {
  const part = (value ?? {}) as Readonly<Record<string, unknown>>;
  const said = part.type === 'refusal' ? part.refusal : part.text;
  if ((part.type === 'text' || part.type === 'refusal') && typeof said === 'string') return text(said);
  if (part.type === 'image_url') return [readImage((part.image_url as { url?: unknown } | null)?.url, at)];
  throw badRequest(`${at}: only parts {"type": "text", "text"} and {"type": "image_url", "image_url": {"url": "data:…"}} are taken`);
}

function readImage(url: unknown, at: string): Content {
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    throw badRequest(`${at}: images are not fetched from the web; send them as data: URLs`, 'image_url_not_supported');
  }
  const [, mimeType] = /^data:(image\/(?:png|jpeg|gif|webp));base64,/.exec(typeof url === 'string' ? url.slice(0, 64) : '') ?? [];
  const data = mimeType && String(url).slice(`data:${mimeType};base64,`.length);
  if (!mimeType || !data || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
    throw badRequest(`${at}: an image is a data: URL of base64 with type png, jpeg, gif or webp`);
  }
  const fault = faultOfPicture(data, mimeType);
  if (fault) throw badRequest(`${at} is ${fault}`, 'invalid_image');
  return { type: 'image', data, mimeType };
}

const text = (said: string): readonly Content[] => (said === '' ? [] : [{ type: 'text', text: said }]);

/** What to answer, and all before it. */
export interface Split {
  readonly history: readonly Message[];
  readonly input: string | readonly Content[];
}

/** The input is what follows the last assistant message. */
export function split(messages: readonly ClientMessage[]): Split {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const { turns, left } = fold(messages.slice(0, last + 1), []);
  const input = fold(messages.slice(last + 1), left).turns.flatMap(({ content }, i) => (i === 0 ? content : [...text('\n\n'), ...content]));
  if (input.length === 0) throw badRequest('the last message must be one of the user, and not empty');
  return { history: turns.map(historyMessage), input: joinTexts(input) };
}

/**
 * Instructions of the client (system, developer) stand before the user message that follows them, where everyone sees
 * them: the agent's own system prompt is not a client's to change. `left` are those that no user message follows.
 */
function fold(messages: readonly ClientMessage[], before: readonly string[]) {
  const turns: ClientMessage[] = [];
  let left = before;
  for (const { role, content } of messages) {
    if (role === 'system') left = [...left, plain(content)];
    else if (role === 'assistant' || left.length === 0) turns.push({ role, content: unmarked(content) });
    else {
      turns.push({
        role,
        content: [...text(`Instructions of the API client:\n${clientInstructions(left.join('\n\n'))}\n\n`), ...unmarked(content)],
      });
      left = [];
    }
  }
  return { turns, left };
}

/** Where a user's words forge marks of the client, also in pieces, they lose them. All else is his own, and stays as it is. */
function unmarked(content: readonly Content[]): readonly Content[] {
  const whole: Content[] = [];
  for (const part of content) {
    const last = whole.at(-1);
    if (part.type === 'text' && last?.type === 'text') whole[whole.length - 1] = { type: 'text', text: last.text + part.text };
    else whole.push(part);
  }
  const clean = whole.map((part) => (part.type === 'text' ? { ...part, text: withoutMarks(part.text, ['client']) } : part));
  return plain(clean) === plain(content) ? content : clean;
}

const plain = (content: readonly Content[]) => content.map((part) => (part.type === 'text' ? part.text : '')).join('');

function joinTexts(content: readonly Content[]): string | readonly Content[] {
  return content.every(({ type }) => type === 'text') ? plain(content) : content;
}

const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

function historyMessage({ role, content }: ClientMessage): Message {
  const timestamp = Date.now();
  if (role !== 'assistant') return { role: 'user', content: joinTexts(content), timestamp };
  const parts = content.filter((part) => part.type === 'text');
  return { role, content: parts, api: 'client', provider: 'client', model: 'client', usage: noUsage, stopReason: 'stop', timestamp };
}
