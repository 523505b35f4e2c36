import { createHash } from 'node:crypto';

/** JSON with sorted keys: equal values give equal text. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const pairs = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${pairs.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join()}}`;
}

/** What makes an instance the same one. Config is hashed: secrets must not be readable in it. */
export interface Identity {
  readonly code: string;
  readonly config: string;
  /** Instance numbers of what it needs, by alias; a number, never the need's own hash. */
  readonly needs: Readonly<Record<string, number>>;
}

export const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Why an instance cannot be kept, in words; undefined where it can. */
export function whyRebuilt(before: Identity | undefined, now: Identity): string | undefined {
  if (!before) return 'new';
  if (before.code !== now.code) return 'its code changed';
  if (before.config !== now.config) return 'its config changed';
  const changed = Object.keys({ ...before.needs, ...now.needs }).filter(
    (alias) => before.needs[alias] !== now.needs[alias],
  );
  return changed.length ? `it needs ${changed.join(', ')}` : undefined;
}
