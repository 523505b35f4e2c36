import type { JsonSchema } from '../../kernel/index.ts';
import { neutral } from '../prompt/contract.ts';

const words = new Set(['description', 'title', '$comment']);
/** Values that a server compares with: to change them is to break its tool. */
const values = new Set(['enum', 'const', 'default', 'examples']);
const most = 1000;

/** A server's schema with its words for people and models made harmless and short; what decides is as it was. */
export const told = (schema: JsonSchema): JsonSchema => reworded(schema) as JsonSchema;

function reworded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reworded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (words.has(key) && typeof inner === 'string') return [key, short(neutral(inner))];
      return [key, values.has(key) ? inner : reworded(inner)];
    }),
  );
}

const short = (said: string) => (said.length > most ? `${said.slice(0, most)}…` : said);
