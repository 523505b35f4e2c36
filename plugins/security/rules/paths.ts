import { joinKey } from '../../../kernel/index.ts';

/** A value of the config and the path that leads to it. */
export interface Found {
  readonly path: string;
  /** The last key. */
  readonly name: string;
  readonly value: unknown;
}

/** The values at a path in which `*` is any key or index: `models.providers.*`, `fetch.allowPrivate.*`. */
export function valuesAt(config: unknown, pattern: string): readonly Found[] {
  const start: readonly Found[] = [{ path: '', name: '', value: config }];
  return pattern.split('.').reduce<readonly Found[]>((all, key) => all.flatMap((one) => step(one, key)), start);
}

function step({ path, value }: Found, key: string): readonly Found[] {
  if (typeof value !== 'object' || value === null) return [];
  const named = Object.entries(value).filter(([name]) => key === '*' || name === key);
  return named.map(([name, inner]) => ({ path: joinKey(path, name), name, value: inner }));
}

/** Every text in the config, with the names on the way to it. */
export function textsIn(
  value: unknown,
  path = '',
  names: readonly string[] = [],
): readonly (Found & { readonly names: readonly string[] })[] {
  if (typeof value === 'string') return [{ path, name: names.at(-1) ?? '', names, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, joinKey(path, name), [...names, name]));
}
