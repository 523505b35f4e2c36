import type { Model } from '../models/contract.ts';
import type { Usage } from '../sessions/contract.ts';
import table from './prices.json' with { type: 'json' };

/** US dollars per million tokens. */
export type Price = NonNullable<Model['cost']>;
export type Prices = Readonly<Record<string, Partial<Price> & Pick<Price, 'input' | 'output'>>>;

const known: Prices = table;

/** `budget.prices`, then what the model itself says (`models.providers`), then our table. Undefined: nobody knows. */
export function priceOf({ provider, id, cost }: Pick<Model, 'provider' | 'id' | 'cost'>, own: Prices = {}): Price | undefined {
  const ref = `${provider}/${id}`;
  const found = at(own, ref) ?? cost ?? at(known, ref) ?? at(known, ref.replace(/-\d{8}$/, ''));
  return found && { cacheRead: found.input, cacheWrite: found.input, ...found };
}

const at = (prices: Prices, ref: string) => (Object.hasOwn(prices, ref) ? prices[ref] : undefined);

/** Whole billionths of a dollar: sums of them are exact, and equal in whatever order they are made. */
export function nanosOf(usage: Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite'>, price: Price | undefined): number {
  if (!price) return 0;
  const { input, output, cacheRead, cacheWrite } = usage;
  const micros = input * price.input + output * price.output + cacheRead * price.cacheRead + cacheWrite * price.cacheWrite;
  return Math.round(micros * 1000);
}

export const nanosPerUsd = 1_000_000_000;
