import type { Store, Tx } from '../store/contract.ts';
import type { Limit, Scope } from './limits.ts';
import { nanosOf, nanosPerUsd, type Price } from './price.ts';
import {
  add,
  clearSpent,
  type Facts,
  type How,
  isGranted,
  prune,
  readLost,
  readSpent,
  removeReserved,
  type Reserved,
  type Sum,
  writeGrant,
  writeLedger,
  writeReserved,
} from './rows.ts';

/** What a request may take. Of its answer at least `minOutput` must fit; as much of `output` is reserved as does. */
export interface Wanted {
  readonly scopes: readonly Scope[];
  readonly facts: Facts;
  readonly input: number;
  readonly output: number;
  readonly price: Price | undefined;
  /** A limit that begins to hold at this part of it. */
  readonly part: (limit: Limit) => number;
}

/** A limit has no room. Tokens, or billionths of a dollar. */
export interface Over {
  readonly limit: Limit;
  readonly unit: 'tokens' | 'usd';
  readonly most: number;
  readonly spent: number;
  readonly held: number;
  readonly needed: number;
  /** The part of the limit is reached from which on another model is to answer; that one may fit where this does not. */
  readonly isNear: boolean;
}

export interface Ledger {
  /** In one transaction: requests that come together do not overspend together. */
  reserve(wanted: Wanted, limits: readonly Limit[]): Promise<Reserved | Over>;
  settle(reserved: Reserved, sum: Omit<Sum, 'requests'>, how: How): (t: Tx) => Promise<void>;
  grant(scope: string, root: string, until: number): Promise<void>;
  /** Counts anew from zero; undefined: everything. */
  reset(scope: string | undefined, facts: Facts): Promise<number>;
  /** Requests whose end nobody will tell are charged as they were reserved. */
  recover(): Promise<number>;
  prune(before: number): Promise<void>;
}

/** The least of an answer that is of use. */
const minOutput = 256;
/** No request takes longer: whoever asked has left it behind. */
const lostAfterMs = 2 * 3_600_000;

interface Means {
  readonly store: Store;
  readonly boot: string;
  readonly now: () => number;
  readonly newId: () => string;
}

export function openLedger({ store, boot, now, newId }: Means): Ledger {
  const recoverIn = async (t: Tx, mine?: string) => {
    const lost = await readLost(t, mine, now() - lostAfterMs);
    for (const one of lost) {
      const unpriced = one.isPriced ? 0 : one.tokens;
      if (await removeReserved(t, one)) await charge(t, one, { ...one, requests: 1, unpriced }, 'recovered', now(), one);
    }
    return lost.length;
  };
  return {
    recover: () => store.tx((t) => recoverIn(t, boot)),
    prune: (before) => store.tx((t) => prune(t, before, now())),
    grant: (scope, root, until) => store.tx((t) => writeGrant(t, scope, root, until)),
    reset: (scope, facts) =>
      store.tx(async (t) => {
        await writeLedger(t, 'reset', facts, { requests: 0, tokens: 0, nanos: 0, unpriced: 0 }, now());
        return clearSpent(t, scope);
      }),
    reserve: (wanted, limits) =>
      store.tx(async (t) => {
        await recoverIn(t);
        const output = await fit(t, wanted, limits, now());
        if (typeof output !== 'number') return output;
        const reserved: Reserved = {
          id: newId(),
          scopes: wanted.scopes.map(({ id }) => id),
          facts: wanted.facts,
          tokens: wanted.input + output,
          nanos: costOf(wanted, output),
          isPriced: wanted.price !== undefined,
        };
        await writeReserved(t, reserved, boot, now());
        return reserved;
      }),
    settle: (reserved, sum, how) => async (t) => {
      if (await removeReserved(t, reserved)) return charge(t, reserved, { requests: 1, ...sum }, how, now(), reserved);
      // It was given up and charged as reserved; what is told now puts that right.
      const was = { tokens: reserved.tokens, nanos: reserved.nanos, unpriced: reserved.isPriced ? 0 : reserved.tokens };
      const more = { tokens: sum.tokens - was.tokens, nanos: sum.nanos - was.nanos, unpriced: sum.unpriced - was.unpriced };
      return charge(t, reserved, { requests: 0, ...more }, 'corrected', now());
    },
  };
}

/** `held` is let go of with it. */
async function charge(t: Tx, { scopes, facts }: Reserved, sum: Sum, how: How, now: number, held?: Reserved) {
  const { requests, tokens, nanos, unpriced } = sum;
  const less = held && { held_tokens: -held.tokens, held_nanos: -held.nanos };
  await add(t, scopes, { requests, tokens, nanos, unpriced, ...less }, now);
  await writeLedger(t, how, facts, sum, now);
}

const costOf = ({ input, price }: Pick<Wanted, 'input' | 'price'>, output: number) =>
  nanosOf({ input, output, cacheRead: 0, cacheWrite: 0 }, price && dearest(price));

/** Nobody knows before what is cached: the dearer price of input counts. */
const dearest = (price: Price): Price => ({ ...price, input: Math.max(price.input, price.cacheWrite) });

/** How many tokens of output fit into all limits; or the limit that has no room. */
async function fit(t: Tx, wanted: Wanted, limits: readonly Limit[], now: number): Promise<number | Over> {
  const { input, price, facts, part } = wanted;
  const least = Math.min(minOutput, wanted.output);
  let output = wanted.output;
  for (const limit of limits) {
    const row = await readSpent(t, limit.scope.id);
    const over = (unit: Over['unit'], most: number, spent: number, held: number, needed: number): Over | undefined => {
      const taken = spent + held + needed;
      const isNear = part(limit) < 1 && taken > most * part(limit);
      return needed > 0 && (taken > most || isNear) ? { limit, unit, most, spent, held, needed, isNear } : undefined;
    };
    const { tokens = 0, held_tokens: heldTokens = 0, nanos = 0, held_nanos: heldNanos = 0 } = row ?? {};
    const mostNanos = limit.usd === undefined ? undefined : Math.round(limit.usd * nanosPerUsd);
    const found =
      (limit.tokens === undefined ? undefined : over('tokens', limit.tokens, tokens, heldTokens, input + least)) ??
      (mostNanos === undefined ? undefined : over('usd', mostNanos, nanos, heldNanos, costOf(wanted, least)));
    if (found && !(await isGranted(t, limit.scope.id, facts.root, now))) return found;
    if (found) continue;
    if (limit.tokens !== undefined) output = Math.min(output, limit.tokens - tokens - heldTokens - input);
    if (mostNanos !== undefined && price && price.output > 0)
      output = Math.min(output, Math.floor((mostNanos - nanos - heldNanos - costOf(wanted, 0)) / (price.output * 1000)));
  }
  return Math.max(output, least);
}
