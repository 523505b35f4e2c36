import type { AttemptFailure, FailureReason, Model } from './contract.ts';
import table from './reasons.json' with { type: 'json' };

/** A row of `reasons.json`. All that it names must hold; the first row that holds decides. */
interface Row {
  /** As the config or the list of known providers names it. */
  readonly provider?: string;
  readonly code?: readonly string[];
  readonly status?: readonly number[];
  /** Words that an error names its kind by, wherever it has them. */
  readonly kind?: readonly string[];
  /** A pattern in the body, whatever its case. */
  readonly text?: string;
  readonly reason: FailureReason;
  /** The error is this model's: other models of the same key may well answer. */
  readonly perModel?: boolean;
}

const rows = (table as readonly Row[]).map(({ text, kind, ...row }) => ({
  ...row,
  ...(text !== undefined && { text: new RegExp(text, 'is') }),
  ...(kind && { kind: new Set(kind.map((one) => one.toLowerCase())) }),
}));

export type Classified = { readonly reason?: FailureReason; readonly perModel?: true };

/** What a failure means for the next attempt. What no row knows is `unknown`; a stop of our own is nobody's failure. */
export function reasonOf(model: Pick<Model, 'provider' | 'baseUrl'>, failure: AttemptFailure): Classified {
  if (failure.code === 'MODEL_ABORTED') return {};
  const said = `${failure.body ?? ''} ${failure.message}`;
  const kinds = kindsIn(failure);
  const provider = providerOf(model);
  const found = rows.find(
    (row) =>
      (row.provider === undefined || row.provider === provider) &&
      (!row.code || row.code.includes(failure.code)) &&
      (!row.status || (failure.status !== undefined && row.status.includes(failure.status))) &&
      (!row.kind || kinds.some((kind) => row.kind?.has(kind))) &&
      (!row.text || row.text.test(said)),
  );
  return { reason: found?.reason ?? 'unknown', ...(found?.perModel && { perModel: true }) };
}

const hosts: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\.)anthropic\.com$/, 'anthropic'],
  [/(?:^|\.)x\.ai$/, 'xai'],
  [/(?:^|\.)openrouter\.ai$/, 'openrouter'],
  [/(?:^|\.)groq\.com$/, 'groq'],
  [/(?:^|\.)mistral\.ai$/, 'mistral'],
  [/(?:^|\.)googleapis\.com$/, 'google'],
];

/** By its address where that is known, so that a provider may have any name in the config. */
function providerOf({ provider, baseUrl }: Pick<Model, 'provider' | 'baseUrl'>): string {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  return hosts.find(([pattern]) => pattern.test(host))?.[1] ?? provider;
}

type Json = Readonly<Record<string, unknown>>;

/** Type, code and status of an error, of what it wraps and of its details, lower-cased: each provider has its own place for them. */
function kindsIn({ body = '', headers }: AttemptFailure): readonly string[] {
  const found: string[] = [];
  const header = headers?.['x-amzn-errortype'];
  if (typeof header === 'string') found.push(...header.split(':', 1));
  const read = (value: unknown, depth: number): void => {
    if (depth > 4 || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.slice(0, 8).forEach((each) => read(each, depth + 1));
    const fields = value as Json;
    for (const name of ['type', 'code', 'status', '__type', 'reason']) {
      const word = fields[name];
      if (typeof word === 'string') found.push(word.split('#').at(-1) ?? word);
      // Numbers are HTTP's own, which the status tells already; some servers tell them here alone.
      else if (typeof word === 'number' && name === 'code') found.push(String(word));
    }
    for (const name of ['error', 'details', 'innererror', 'inner_error', 'metadata']) read(fields[name], depth + 1);
  };
  read(parsed(body), 0);
  return found.map((word) => word.toLowerCase());
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON, or cut: the table's patterns read it as text
  }
}
