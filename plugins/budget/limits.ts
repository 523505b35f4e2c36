import type { Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import type { BudgetLine } from './contract.ts';
import type { Calendar } from './day.ts';
import type { Prices } from './price.ts';

export interface Bound {
  readonly tokens?: number;
  readonly usd?: number;
}
type OnLimit = 'refuse' | 'downgrade' | 'ask';

export interface BudgetConfig {
  readonly day?: Bound;
  readonly session?: Bound;
  readonly run?: Bound;
  readonly onLimit: OnLimit;
  readonly downgradeTo?: string;
  readonly downgradeAt: number;
  readonly timeZone?: string;
  readonly reserveOutputTokens: number;
  readonly keepDays: number;
  readonly prices?: Prices;
}

/** Who makes a request, as far as it is known. `sessions` and `root` hold those whose child it is, too. */
export interface Payer {
  readonly agentId?: string | undefined;
  readonly sessions: readonly string[];
  readonly root?: string | undefined;
}

/** Something that is counted. Its `id` is the key of its row. */
export interface Scope {
  readonly id: string;
  readonly kind: BudgetLine['kind'];
  readonly name: string;
}

export interface Limit extends Bound {
  readonly scope: Scope;
  /** Config path: `budget.day`. */
  readonly path: string;
  readonly onLimit: OnLimit;
  readonly downgradeTo?: string;
}

export const scopes = {
  day: (day: string): Scope => ({ id: `day:${day}`, kind: 'day', name: day }),
  agentDay: (agent: string, day: string): Scope => ({ id: `agent-day:${day}:${agent}`, kind: 'agent-day', name: agent }),
  agent: (agent: string): Scope => ({ id: `agent:${agent}`, kind: 'agent', name: agent }),
  session: (key: string): Scope => ({ id: `session:${key}`, kind: 'session', name: key }),
  run: (id: string): Scope => ({ id: `run:${id}`, kind: 'run', name: id }),
};

/** All that a payer's request counts for. */
export function scopesOf({ agentId, sessions, root }: Payer, day: string): readonly Scope[] {
  const ofAgent = agentId === undefined ? [] : [scopes.agentDay(agentId, day), scopes.agent(agentId)];
  const keys = [...new Set(sessions)].map(scopes.session);
  return [scopes.day(day), ...ofAgent, ...keys, ...(root === undefined ? [] : [scopes.run(root)])];
}

/** The limits that hold for these scopes. Of several for one scope each holds. */
export function limitsOf(run: Run, config: BudgetConfig, payer: Payer, day: string): readonly Limit[] {
  const all = scopesOf(payer, day);
  const usual = { onLimit: config.onLimit, ...(config.downgradeTo && { downgradeTo: config.downgradeTo }) };
  const make = (bound: Bound | undefined, kind: Scope['kind'], path: string, handling: Pick<Limit, 'onLimit' | 'downgradeTo'>) =>
    bound && (bound.tokens !== undefined || bound.usd !== undefined)
      ? all.filter((scope) => scope.kind === kind).map((scope): Limit => ({ ...bound, scope, path, ...handling }))
      : [];
  const common = (['day', 'session', 'run'] as const).flatMap((key) => make(config[key], key, `budget.${key}`, usual));
  const agents = run.find(Agents);
  const { agentId } = payer;
  if (!agents || agentId === undefined) return common;
  const field = <T>(name: string) => agents.field<T>(agentId, `budget.${name}`);
  const handling = {
    onLimit: field<OnLimit>('onLimit') ?? usual.onLimit,
    ...((field<string>('downgradeTo') ?? usual.downgradeTo) && { downgradeTo: field<string>('downgradeTo') ?? usual.downgradeTo }),
  } as Pick<Limit, 'onLimit' | 'downgradeTo'>;
  const isOwn = (name: string) => (agents.own(agentId)?.['budget'] as Readonly<Record<string, unknown>> | undefined)?.[name] !== undefined;
  const ofAgent = Object.entries(agentKinds).flatMap(([name, kind]) =>
    make(field<Bound>(name), kind, `${isOwn(name) ? agents.path(agentId) : 'agents.defaults'}.budget.${name}`, handling),
  );
  return [...common, ...ofAgent];
}

const agentKinds = { day: 'agent-day', total: 'agent', session: 'session', run: 'run' } as const;

/** `budget.timeZone`, else that of the people it talks to. */
export const zoneOf = (run: Run, config: BudgetConfig): string | undefined =>
  config.timeZone ?? (run.find(Agents)?.defaults['userTimezone'] as string | undefined);

/** Kept: making a calendar costs more than asking it. */
export function calendars(make: (zone: string | undefined) => Calendar) {
  let last: { readonly zone: string | undefined; readonly calendar: Calendar } | undefined;
  return (zone: string | undefined): Calendar => {
    if (!last || last.zone !== zone) last = { zone, calendar: make(zone) };
    return last.calendar;
  };
}
