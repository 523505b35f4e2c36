export type Json = Readonly<Record<string, unknown>>;

/** What is wrong with a request, place by place. */
export interface Findings {
  readonly found: string[];
  readonly add: (at: string, what: string) => void;
}

export function findings(): Findings {
  const found: string[] = [];
  return { found, add: (at, what) => void found.push(`${at}: ${what}`) };
}

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
export const isFilled = (value: unknown): value is string => typeof value === 'string' && /\S/.test(value);

/** Text that a server can decode: half a pair of surrogates is refused as broken JSON or broken text. */
export function checkText(raw: string, { add }: Findings) {
  if (!raw.isWellFormed() || /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F][0-9a-fA-F]{2}/.test(raw)) add('body', 'half a surrogate pair');
}

export const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function checkImage(at: string, type: unknown, data: unknown, { add }: Findings) {
  if (!imageTypes.has(String(type))) add(at, `image type ${String(type)}`);
  if (typeof data !== 'string' || data === '' || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    add(at, 'image data is no base64');
}

export function checkDataUrl(at: string, url: unknown, found: Findings) {
  const [, type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(String(url)) ?? [];
  checkImage(at, type, data, found);
}

export function objectIn(text: unknown): Json | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // the caller says what is wrong
  }
}
