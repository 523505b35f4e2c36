import { type Content, messageOf, type ToolResult } from '../../kernel/index.ts';

/**
 * What a tool returned as a result that can be shown, stored and sent: nothing in it but what its type says, and details as
 * JSON holds them. A string where it is none: what is wrong with it.
 */
export function soundResult(returned: unknown): ToolResult | string {
  let fault = 'what cannot be read';
  try {
    if (!isObject(returned)) return `${nameOf(returned)}, not {"content": [...]}`;
    const { content, details, isError } = returned;
    if (!Array.isArray(content)) return `a content that is ${nameOf(content)}, not a list of parts`;
    const parts = Array.from(content, partOf); // a hole is a part, too
    const odd = parts.indexOf(undefined);
    if (odd >= 0) return `a content[${odd}] that is neither {"type": "text", "text"} nor {"type": "image", "data", "mimeType"}`;
    fault = 'details that JSON cannot hold';
    const json = JSON.stringify(details) as string | undefined; // for what JSON leaves out, such as a function
    return {
      content: parts as readonly Content[],
      ...(json !== undefined && { details: JSON.parse(json) as unknown }),
      ...(isError !== undefined && { isError: isError === true }),
    };
  } catch (error) {
    return `${fault} (${messageOf(error).split('\n', 1)[0]})`;
  }
}

function partOf(part: unknown): Content | undefined {
  if (!isObject(part)) return undefined;
  const { type, text, data, mimeType } = part;
  if (type === 'text' && typeof text === 'string') return { type, text };
  return type === 'image' && typeof data === 'string' && typeof mimeType === 'string' ? { type, data, mimeType } : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
