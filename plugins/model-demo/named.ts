import type { ToolCallPart } from '../sessions/contract.ts';

const verbs = 'use|call|try|用|调用';
const spoken = new RegExp(String.raw`(?:\b|^)(?:${verbs})\s*(?:the\s+)?(?:tool\s+)?[\x60"'“]?(?<name>[\w-]+)`, 'iu');
const bare = /^\s*(?<name>[\w-]+)\s*(?:\{[^]*\})?\s*$/;

/** A tool that is called by its name, with its arguments as JSON where there are some: `use roll_dice {"count": 2}`. */
export function namedIn(said: string, offered: ReadonlySet<string>): Pick<ToolCallPart, 'name' | 'arguments'> | undefined {
  const found = [bare, spoken].map((pattern) => pattern.exec(said)?.groups?.['name'] ?? '');
  const name = found.find((one) => offered.has(one));
  return name === undefined ? undefined : { name, arguments: argumentsIn(said) };
}

function argumentsIn(said: string): ToolCallPart['arguments'] {
  try {
    return JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1)) as ToolCallPart['arguments'];
  } catch {
    return {}; // none were given
  }
}
