import { Host, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Client, type Method, refusal, requireOwner } from '../gateway/contract.ts';
import { sessionKey as keyIn } from '../sessions/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Means } from './admission.ts';
import type { Amount, BudgetLine, BudgetStatus } from './contract.ts';
import { type Limit, limitsOf, type Payer, type Scope, scopes, scopesOf, zoneOf } from './limits.ts';
import { nanosPerUsd } from './price.ts';
import { readRecent, readSpent, type SpentRow } from './rows.ts';

type Params = Parameters<Method>[0];

/** The methods of `contract.ts`. */
export function budgetMethods(means: Means): Readonly<Record<string, Method>> {
  return {
    'budget.status': (params, _client, run) => status(params, run, means),
    'budget.reset': (params, client, run) => reset(params, client, run, means),
  };
}

const recentSessions = 5;

async function status(params: Params, run: Run, { config, store, calendar, now }: Means): Promise<BudgetStatus> {
  const { timeZone, dayOf } = calendar(zoneOf(run, config));
  const day = dayOf(now());
  const { agentId, session } = addressOf(params, run);
  const payers: Payer[] = session === undefined ? [] : [{ agentId, sessions: [session] }];
  const agents = agentId === undefined ? (run.find(Agents)?.ids ?? []) : [agentId];
  payers.push(...agents.map((id) => ({ agentId: id, sessions: [] })));
  if (agentId === undefined) {
    const prefix = scopes.session('').id;
    const recent = await store.tx((t) => readRecent(t, prefix, recentSessions));
    for (const { scope } of recent) {
      const key = scope.slice(prefix.length);
      payers.push({ agentId: run.find(Agents)?.sessionAgent({ sessionKey: key }), sessions: [key] });
    }
  }
  payers.push({ sessions: [] });
  const found = new Map<string, { readonly scope: Scope; readonly limits: Limit[] }>();
  for (const payer of payers) {
    const limits = limitsOf(run, config, payer, day);
    for (const scope of scopesOf(payer, day)) {
      const known = found.get(scope.id) ?? { scope, limits: [] };
      found.set(scope.id, known);
      known.limits.push(...limits.filter((limit) => limit.scope.id === scope.id && !known.limits.some(({ path }) => path === limit.path)));
    }
  }
  const rows = await store.tx((t) => Promise.all([...found.keys()].map((id) => readSpent(t, id))));
  const lines = [...found.values()].map(({ scope, limits }, i) => lineOf(scope, limits, rows[i], run));
  const told = lines.filter(
    ({ kind, tokens, usd }) => kind !== 'agent' || agentId !== undefined || (tokens.limit ?? usd.limit) !== undefined,
  );
  return { day, timeZone, lines: told.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind)) };
}

const order: readonly BudgetLine['kind'][] = ['day', 'agent-day', 'agent', 'session', 'run'];

function lineOf({ kind, name }: Scope, limits: readonly Limit[], row: SpentRow | undefined, run: Run): BudgetLine {
  const tokens = { spent: row?.tokens ?? 0, held: row?.held_tokens ?? 0, ...strictest(limits, 'tokens', run) };
  const usd = { spent: (row?.nanos ?? 0) / nanosPerUsd, held: (row?.held_nanos ?? 0) / nanosPerUsd, ...strictest(limits, 'usd', run) };
  return { kind, name, requests: row?.requests ?? 0, tokens, usd, unpriced: row?.unpriced ?? 0 };
}

function strictest(limits: readonly Limit[], unit: 'tokens' | 'usd', run: Run): Pick<Amount, 'limit' | 'place'> {
  const [least] = limits.filter((limit) => limit[unit] !== undefined).toSorted((a, b) => (a[unit] ?? 0) - (b[unit] ?? 0));
  const limit = least?.[unit];
  if (!least || limit === undefined) return {};
  const path = `${least.path}.${unit}`;
  const place = run.get(Host).place(path);
  return { limit, place: place === path ? path : `${path} (${place})` };
}

async function reset(params: Params, client: Client, run: Run, { config, ledger, calendar, now }: Means) {
  // A turn that could do this would set its own limits.
  if (run.find(Turn)) throw refusal(403, 'BUDGET_OWNER', 'a turn cannot count anew; use the page or "instar budget reset" in a terminal');
  requireOwner(client, 'BUDGET_OWNER', 'to count anew');
  const day = calendar(zoneOf(run, config)).dayOf(now());
  const { agentId, session } = addressOf(params, run);
  const facts = { day, agent: agentId ?? '', session: session ?? '', root: '', model: '' };
  if (session !== undefined) return { reset: await ledger.reset(scopes.session(session).id, facts) };
  if (agentId === undefined) return { reset: await ledger.reset(undefined, facts) };
  const ofAgent = await ledger.reset(scopes.agent(agentId).id, facts);
  return { reset: ofAgent + (await ledger.reset(scopes.agentDay(agentId, day).id, facts)) };
}

function addressOf(params: Params, run: Run): { readonly agentId?: string; readonly session?: string } {
  const [agent, session] = [wordOf(params, 'agentId'), wordOf(params, 'sessionKey')];
  if (agent === undefined && session === undefined) return {};
  const agents = run.find(Agents);
  const agentId = agents?.sessionAgent({ agentId: agent, sessionKey: session }) ?? agent ?? '';
  if (agents && !agents.own(agentId))
    throw refusal(404, 'AGENT_UNKNOWN', `there is no agent "${agentId}"; there are ${agents.ids.join(', ')}`);
  return { agentId, ...(session !== undefined && { session: keyIn(agentId, session) }) };
}

function wordOf(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^[^\p{Cc}]{1,500}$/u.test(value)) return value;
  throw refusal(400, 'BUDGET_PARAMS', `"${name}" must be 1 to 500 characters on one line`);
}
