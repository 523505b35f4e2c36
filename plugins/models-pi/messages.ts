import type { Content } from '../../kernel/index.ts';
import { noUsage, type Model, type ModelRequest } from '../models/contract.ts';
import type { AssistantMessage, AssistantPart, Message, ToolResultMessage } from '../sessions/contract.ts';
import { leading } from '../sessions/contract/content.ts';
import { portable } from '../sessions/contract/portable.ts';
import { showsImagesInResults } from './google.ts';
import { withoutBrokenItems } from './items.ts';

/**
 * A conversation as the model's protocol takes it, whoever its replies are of. What only the maker of a reply understands
 * (signatures, ids of items) stays where it is his and whole, and goes elsewhere.
 */
export function conversationFor(model: Model, messages: readonly Message[]): readonly Message[] {
  const isOwn = (message: AssistantMessage) =>
    message.provider === model.provider && message.api === model.api && message.model === model.id;
  const isResponses = model.api === 'openai-responses';
  const known = isResponses ? withoutBrokenItems(messages, isOwn) : messages;
  const sent = portable(known, { longest: 64, ...(isResponses && { items: isOwn }) });
  // A reply of which nothing is left here is none.
  const fit = sent
    .map((message) => (message.role === 'assistant' ? unmeasured(replyFor(model, message, isOwn(message))) : message))
    .filter(({ content }) => content.length > 0);
  return model.api === 'google-generative-ai' && !showsImagesInResults(model.id) ? imagesAfterResults(fit) : fit;
}

/** pi leaves out what ended in an error; what had been said by then was shown, and counts. */
function replyFor(model: Model, message: AssistantMessage, isOwn: boolean): AssistantMessage {
  const isBroken = message.stopReason === 'error' || message.stopReason === 'aborted';
  const content = leading(message.content.filter((part) => isFit(model, part, isOwn)));
  return content.length === message.content.length && !isBroken
    ? message
    : { ...message, content, ...(isBroken && { stopReason: 'stop' }) };
}

const measureless = new WeakMap<AssistantMessage, AssistantMessage>();

/**
 * Without what it used: pi would take that of the last reply for the size of this request, which may have been made
 * shorter since. It counts what is sent instead. A line of a file may lack it altogether.
 */
function unmeasured(message: AssistantMessage): AssistantMessage {
  const known = measureless.get(message) ?? { ...message, usage: noUsage };
  measureless.set(message, known);
  return known;
}

function isFit({ api, compat }: Model, part: AssistantPart, isOwn: boolean): boolean {
  // Google signs empty texts, and wants them back.
  if (part.type === 'text') return part.text.trim() !== '' || (isOwn && api === 'google-generative-ai');
  if (part.type === 'toolCall') return true;
  if (api !== 'anthropic-messages') return isOwn;
  return isOwn && (compat?.['allowEmptySignature'] === true || (part.thinkingSignature ?? '').trim() !== '');
}

/** All results of a round must stand together: where pictures cannot be in them, they follow the last. */
function imagesAfterResults(messages: readonly Message[]): readonly Message[] {
  const moved: Message[] = [];
  let images: readonly Content[] = [];
  const flush = () => {
    if (images.length) moved.push({ role: 'user', content: [{ type: 'text', text: 'Images of the results:' }, ...images], timestamp: 0 });
    images = [];
  };
  for (const message of messages) {
    if (message.role !== 'toolResult') flush();
    if (message.role !== 'toolResult' || message.content.every(({ type }) => type === 'text')) moved.push(message);
    else {
      images = [...images, ...message.content.filter(({ type }) => type === 'image')];
      moved.push(withoutImages(message));
    }
  }
  flush();
  return moved;
}

const withoutImages = (message: ToolResultMessage): ToolResultMessage => ({
  ...message,
  content: message.content.map((part) => (part.type === 'image' ? { type: 'text', text: '(the image follows the results)' } : part)),
});

/** Anthropic refuses budgets under 1024, and the answer needs room as well. Tokens. */
const leastToThink = 2048;

/**
 * Anthropic: with thinking on, the last reply that called tools must begin with thinking. One that another model gave
 * does not: until the next reply it goes on without.
 */
export function mayThink({ model, messages, maxTokens = model.maxTokens }: ModelRequest): boolean {
  if (model.api !== 'anthropic-messages') return true;
  if (Math.min(maxTokens, model.maxTokens) < leastToThink) return false;
  const last = conversationFor(model, messages).findLast((message) => message.role === 'assistant');
  return last === undefined || last.content[0]?.type === 'thinking' || !last.content.some(({ type }) => type === 'toolCall');
}
