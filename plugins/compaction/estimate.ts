import type { Content } from '../../kernel/index.ts';
import type { ToolSpec } from '../models/contract.ts';
import type { AssistantPart, Message } from '../sessions/contract.ts';

/** Rather too many tokens than too few: English has about 4.5 bytes to one, code 3.5; other scripts have more bytes a letter. */
export const bytesPerToken = 3.5;
const tokensPerImage = 1_500;
/** Role, marks and ids. */
const tokensPerMessage = 8;

export const tokensOfText = (text: string): number => Math.ceil(Buffer.byteLength(text) / bytesPerToken);

/** Messages never change, so each is measured once. */
const measured = new WeakMap<Message, number>();

export function tokensOf(messages: readonly Message[]): number {
  let sum = 0;
  for (const message of messages) sum += tokensOfMessage(message);
  return sum;
}

export function tokensOfMessage(message: Message): number {
  const known = measured.get(message);
  if (known !== undefined) return known;
  const { content } = message;
  const parts: readonly (Content | AssistantPart)[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const tokens = parts.reduce((sum, part) => sum + tokensOfPart(part), tokensPerMessage);
  measured.set(message, tokens);
  return tokens;
}

function tokensOfPart(part: Content | AssistantPart): number {
  switch (part.type) {
    case 'text':
      return tokensOfText(part.text);
    case 'thinking':
      return tokensOfText(part.thinking);
    case 'toolCall':
      return tokensOfText(`${part.id}${part.name}${JSON.stringify(part.arguments)}`);
    default:
      return tokensPerImage;
  }
}

const tools = new WeakMap<readonly ToolSpec[], number>();

/** What every request of a turn begins with: the prompt, the workspace's rules in it, and the tools. */
export function tokensBefore(system: string, specs: readonly ToolSpec[]): number {
  const known = tools.get(specs) ?? (specs.length ? tokensOfText(JSON.stringify(specs)) : 0);
  tools.set(specs, known);
  return tokensOfText(system) + known;
}
