/** What one key of a config comes to. */
export interface Finding {
  /** As in the text. */
  readonly keys: Keys;
  /** `in use`: a plugin reads it. `no effect`: known elsewhere, read by nobody here. `warning`: a slip without consequence, or one that loosens. */
  readonly kind: 'in use' | 'no effect' | 'warning' | 'error';
  /** Whose it is. */
  readonly plugin?: string | undefined;
  /** What a person must know; of what is in use, nothing. */
  readonly why?: string;
}
export type Keys = readonly string[];
export type Values = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `{ source: 'env', … }`: stands for a text that is fetched later. */
export const isSecretReference = (value: unknown) =>
  isObject(value) && ['env', 'file', 'exec'].includes(value['source'] as string) && typeof value['id'] === 'string';

export const dig = (value: unknown, keys: Keys): unknown =>
  keys.reduce((at, key) => (typeof at === 'object' && at !== null ? (at as Values)[key] : undefined), value);

/** The same with another value at `keys`, or without one; what lies beside is shared. */
export function put(value: unknown, [key, ...rest]: Keys, inner: unknown): unknown {
  if (key === undefined) return inner;
  const next = put(isObject(value) || Array.isArray(value) ? (value as Values)[key] : undefined, rest, inner);
  if (Array.isArray(value)) return Number(key) < value.length ? value.with(Number(key), next) : value;
  const { [key]: _, ...others } = isObject(value) ? value : {};
  return next === undefined ? others : { ...(isObject(value) ? value : {}), [key]: next };
}
