import { Host, type Run } from '../../kernel/index.ts';
import type { BudgetFailure, BudgetLine } from './contract.ts';
import type { Over } from './ledger.ts';
import { nanosPerUsd } from './price.ts';

const whose: Readonly<Record<BudgetLine['kind'], (name: string) => string>> = {
  day: () => 'of today',
  'agent-day': (name) => `of agent "${name}" for today`,
  agent: (name) => `of agent "${name}"`,
  session: () => 'of this session',
  run: () => 'of this turn',
};

const ways: Readonly<Record<BudgetLine['kind'], string>> = {
  day: 'wait for the next day',
  'agent-day': 'wait for the next day',
  agent: 'count anew with "instar budget reset --agent"',
  session: 'begin a new session',
  run: 'ask for less at once',
};

export const limitPath = ({ limit, unit }: Pick<Over, 'limit' | 'unit'>) => `${limit.path}.${unit}`;

/** What is used up and how far, without advice: also what a person is asked. */
export function standing({ limit, unit, most, spent, held, needed }: Over): string {
  const how = (amount: number) => (unit === 'tokens' ? amount.toLocaleString('en-US') : dollars(amount / nanosPerUsd));
  const of = unit === 'tokens' ? `${how(most)} tokens` : how(most);
  const waiting = held > 0 ? ` and ${how(held)} reserved by requests under way` : '';
  const state = spent + held + needed > most ? 'has no room for this request' : 'is nearly used up';
  return `the budget ${whose[limit.scope.kind](limit.scope.name)} ${state}: ${how(spent)} of ${of} spent${waiting}, at least ${how(needed)} needed`;
}

/** One line: which limit, what is spent, where it is set, what to do. */
export function refusalOf(run: Run, over: Over, more = ''): BudgetFailure {
  const path = limitPath(over);
  const place = run.get(Host).place(path);
  const where = place === path ? path : `${path} (${place})`;
  const message = `${standing(over)}${more && `; ${more}`}; raise ${where}, or ${ways[over.limit.scope.kind]}`;
  const useModel = over.isNear ? over.limit.downgradeTo : undefined;
  return { code: 'BUDGET_EXCEEDED', message, limit: path, ...(useModel && { useModel }) };
}

/** Small sums need their digits: a request may cost a hundredth of a cent. */
export const dollars = (usd: number): string => `$${usd.toFixed(4).replace(Math.abs(usd) < 0.1 ? /0{1,2}$/ : /..$/, '')}`;
