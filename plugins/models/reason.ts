import type { AttemptFailure, FailureReason, Model } from './contract.ts';
import { type Word, wordsIn } from './reason-words.ts';
import table from './reasons.json' with { type: 'json' };

/** A row of `reasons.json`. All that it names must hold; the first row that holds decides. */
interface Row {
  /** As the config or the list of known providers names it. */
  readonly provider?: string;
  readonly code?: readonly string[];
  readonly status?: readonly number[];
  /** Words that an error names its kind by, wherever it has them. */
  readonly kind?: readonly string[];
  /** A pattern in what the error says of itself, whatever its case. */
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
  const words = wordsIn(failure.body ?? '');
  const kinds = kindsIn(words, failure.headers);
  const said = [...words.flatMap(({ value }) => (typeof value === 'string' ? value : [])), failure.message];
  const provider = providerOf(model);
  const found = rows.find(
    (row) =>
      (row.provider === undefined || row.provider === provider) &&
      (!row.code || row.code.includes(failure.code)) &&
      (!row.status || (failure.status !== undefined && row.status.includes(failure.status))) &&
      (!row.kind || kinds.some((kind) => row.kind?.has(kind))) &&
      (!row.text || said.some((text) => row.text?.test(text))),
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

/** Type, code and status of an error and of what it wraps, lower-cased. */
function kindsIn(words: readonly Word[], headers: AttemptFailure['headers']): readonly string[] {
  const header = headers?.['x-amzn-errortype'];
  const found = typeof header === 'string' ? header.split(':', 1) : [];
  for (const { field, value } of words) {
    if (!kindFields.has(field)) continue;
    if (typeof value === 'string') found.push(value.split('#').at(-1) ?? value);
    // Numbers are HTTP's own, which the status tells already; some servers tell them here alone.
    else if (field === 'code') found.push(String(value));
  }
  return found.map((word) => word.toLowerCase());
}

const kindFields: ReadonlySet<string> = new Set(['type', 'code', 'status', '__type', 'reason']);
