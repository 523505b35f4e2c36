import { isSecretName } from '../../../kernel/index.ts';
import type { ConfigText } from '../contract.ts';

/** One value that the config's text sets. */
export interface Setting {
  readonly path: string;
  readonly value: unknown;
  /** `file:line:column`; of what the text does not set, `default`. */
  readonly place: string;
  readonly isDefault?: true;
}

export const valueAt = (at: string, values: ConfigText['values']) =>
  at.split('.').reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], values);

/** What the text says at a path, leaf by leaf, each with its place. Values whose name says that they are secret are hidden. */
export function settingsAt(at: string, { values, place }: ConfigText): readonly Setting[] {
  const top = valueAt(at, values);
  const leaves = (value: unknown, path: string, hidden: boolean): readonly Setting[] => {
    if (value === undefined) return [];
    const children = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (children.length === 0) return [{ path, value: hidden && typeof value === 'string' ? '[hidden]' : value, place: place(path) }];
    return children.flatMap(([name, inner]) => leaves(inner, childOf(path, name, Array.isArray(value)), hidden || isSecretName(name)));
  };
  return leaves(top, at, false);
}

function childOf(path: string, key: string, isList: boolean): string {
  if (isList) return `${path}[${key}]`;
  return /^[\w$-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
