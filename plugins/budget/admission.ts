import { type Log, messageOf, type Run } from '../../kernel/index.ts';
import type { RequestEnd, UnsignedRequest } from '../models/contract.ts';
import type { Store } from '../store/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { BudgetFailure } from './contract.ts';
import type { Calendar } from './day.ts';
import { inputTokens, tokensOf, usageOf } from './estimate.ts';
import type { Ledger, Over, Wanted } from './ledger.ts';
import { type BudgetConfig, type Limit, limitsOf, scopesOf, zoneOf } from './limits.ts';
import { payerOf } from './payer.ts';
import type { Permission } from './permission.ts';
import { nanosOf, type Price, priceOf } from './price.ts';
import { refusalOf } from './refusal.ts';
import type { Reserved } from './rows.ts';

export interface Means {
  readonly config: BudgetConfig;
  readonly ledger: Ledger;
  readonly permission: Permission;
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly calendar: (zone: string | undefined) => Calendar;
  /** Models without a price that were told of. */
  readonly unpriced: Set<string>;
}

type Admitted = { readonly reserved: Reserved; readonly price: Price | undefined };

/** The way of one request past the limits: what is reserved before, and settled after. */
export function admission(means: Means) {
  const { config, ledger, log } = means;
  /** A request begins and ends in one run, which stays with this instance. */
  const underWay = new WeakMap<UnsignedRequest, Admitted>();

  async function admit(request: UnsignedRequest, run: Run): Promise<BudgetFailure | undefined> {
    const { model } = request;
    const payer = await payerOf(run);
    const day = means.calendar(zoneOf(run, config)).dayOf(means.now());
    const limits = limitsOf(run, config, payer, day);
    const ref = `${model.provider}/${model.id}`;
    const price = priceOf(model, config.prices);
    if (!price) tellUnpriced(ref, limits);
    const isAsked = run.find(Turn)?.modelAsked === true;
    const wanted: Wanted = {
      scopes: scopesOf(payer, day),
      facts: { day, agent: payer.agentId ?? '', session: payer.sessions[0] ?? '', root: payer.root, model: ref },
      input: inputTokens(request),
      output: Math.min(request.maxTokens ?? model.maxTokens, config.reserveOutputTokens),
      price,
      // Who asked for a model by name gets that one, or none.
      part: ({ onLimit, downgradeTo }) =>
        onLimit === 'downgrade' && downgradeTo && downgradeTo !== ref && !isAsked ? config.downgradeAt : 1,
    };
    const found = await reserve(wanted, limits, run);
    if (!found) return undefined;
    if ('limit' in found) return found;
    underWay.set(request, { reserved: found, price });
    return undefined;
  }

  /** Each limit may be lifted by a person, one after the other. Nothing: the store cannot keep it, and no limit asks for it. */
  async function reserve(wanted: Wanted, limits: readonly Limit[], run: Run): Promise<Reserved | BudgetFailure | undefined> {
    for (let tries = 0; ; tries++) {
      const found = await ledger.reserve(wanted, limits).catch((error: unknown) => {
        if (limits.length > 0) throw error;
        log.warn(`what a request takes could not be kept: ${messageOf(error)}`);
        return undefined;
      });
      if (!found || !isOver(found)) return found;
      if (found.limit.onLimit !== 'ask' || tries >= limits.length) return refusalOf(run, found);
      const no = await means.permission.ask(run, wanted.facts.root, found);
      if (no !== undefined) return refusalOf(run, found, no);
    }
  }

  function tellUnpriced(ref: string, limits: readonly Limit[]) {
    const limit = limits.find(({ usd }) => usd !== undefined);
    if (!limit || means.unpriced.has(ref)) return;
    means.unpriced.add(ref);
    log.warn(`the price of ${ref} is unknown: ${limit.path}.usd does not hold for it, its tokens count; set budget.prices["${ref}"]`);
  }

  async function settle({ request, reply, heard }: RequestEnd) {
    const admitted = underWay.get(request);
    if (!admitted) return;
    underWay.delete(request);
    const { usage, isEstimated } = usageOf(request, reply, heard);
    const tokens = tokensOf(usage);
    const { price, reserved } = admitted;
    const sum = { tokens, nanos: nanosOf(usage, price), unpriced: price ? 0 : tokens };
    const write = ledger.settle(reserved, sum, isEstimated ? 'estimated' : 'settled');
    // A full disk holds no answer up: the reservation stands until there is room.
    await means.store.tx(write).catch((error: unknown) => {
      log.warn(`what a request took is kept later: ${messageOf(error)}`);
      means.store.insist(write).catch(() => {}); // charged as reserved at the next start
    });
  }

  return { admit, settle };
}

const isOver = (found: Reserved | Over): found is Over => 'limit' in found;
