import { invalidArguments } from '../models/contract.ts';
import type { ToolCallPart } from '../sessions/contract.ts';

type Arguments = ToolCallPart['arguments'];

/**
 * A call's arguments from the text the model wrote. Mended is what has one meaning only: raw line ends and lone
 * backslashes in strings, and an object inside a string. Anything else goes back to the model as it is.
 */
export function parseArguments(text: string): Arguments {
  if (text.trim() === '') return {};
  return objectIn(text) ?? objectIn(text.replace(strings, mend)) ?? invalidArguments(text);
}

function objectIn(text: string): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const inner: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    if (inner === null) return {};
    return typeof inner === 'object' && !Array.isArray(inner) ? (inner as Arguments) : undefined;
  } catch {
    // Not JSON: the caller has another text to try, or hands it on as it is.
    return undefined;
  }
}

const strings = /"(?:[^"\\]|\\[^])*"/g;

const mend = (literal: string) =>
  literal
    .replace(/\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|\\/g, (escape) => (escape === '\\' ? '\\\\' : escape))
    .replace(/[\u0000-\u001f]/g, (control) => JSON.stringify(control).slice(1, -1));
