import { bail } from '../../kernel/index.ts';
import type { ModelFailure } from '../models/contract.ts';
import type { Turn } from '../turns/contract.ts';

/** The turn that a tree of runs began with. What its children spend counts for it too. */
export interface RunRoot {
  readonly runId: string;
  readonly sessionKey: string;
}

/**
 * Asked of each turn that makes a request: whose child it is, in the end. Who starts turns in another turn's name
 * (sub-agents) answers with the root of the whole tree; without an answer a turn is its own root.
 */
export const RootOf = bail<Turn, RunRoot>('budget.root');

/** A request that was not sent, because a limit is reached. Without a `reason`: nobody failed. */
export interface BudgetFailure extends ModelFailure {
  readonly code: 'BUDGET_EXCEEDED';
  /** The config path of the limit, such as `budget.day.tokens`. */
  readonly limit: string;
  /** From here on this model is to answer instead, `provider/id`. */
  readonly useModel?: string;
}

/** Errors compare by code. */
export const isBudgetFailure = (failure: ModelFailure | undefined): failure is BudgetFailure => failure?.code === 'BUDGET_EXCEEDED';

/** `held`: reserved by requests under way. */
export interface Amount {
  readonly spent: number;
  readonly held: number;
  readonly limit?: number;
  /** Where the limit stands: its config path, with `file:line:column` where the text has one. */
  readonly place?: string;
}

export interface BudgetLine {
  readonly kind: 'day' | 'agent-day' | 'agent' | 'session' | 'run';
  /** An agent's id, a session's key, a day, the id of a run. */
  readonly name: string;
  readonly requests: number;
  readonly tokens: Amount;
  /** US dollars. */
  readonly usd: Amount;
  /** Tokens among them of models whose price is unknown: they are in no sum of money. */
  readonly unpriced: number;
}

/**
 * Gateway methods:
 *
 * - `budget.status {agentId?, sessionKey?}` → `BudgetStatus`: today, each agent, the sessions used last; or those named
 * - `budget.reset {agentId?, sessionKey?}` → `{reset}`: counts anew from zero; without a name everything. Only a person
 *   at the page or a terminal may
 */
export interface BudgetStatus {
  readonly day: string;
  readonly timeZone: string;
  readonly lines: readonly BudgetLine[];
}
