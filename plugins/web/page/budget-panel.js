// @ts-check
/** What is spent today, above the foot of the list of chats; opened, each agent and the limits that are set. */
import { byId, h } from './element.js';

/**
 * @typedef {import('../../budget/contract.ts').BudgetStatus} BudgetStatus
 * @typedef {import('../../budget/contract.ts').BudgetLine} BudgetLine
 * @typedef {import('../../budget/contract.ts').Amount} Amount
 * @param {{ call: import('./connection.js').Connection['call'] }} options
 */
export function createBudgetPanel({ call }) {
  const panel = byId('details', 'budget');
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  async function refresh() {
    clearTimeout(waiting);
    waiting = undefined;
    /** @type {BudgetStatus | undefined} */
    const status = await call('budget.status').catch(() => undefined); // switched off: there is nothing to show
    const today = status?.lines.find(({ kind }) => kind === 'day');
    panel.hidden = !status || !today || !status.lines.some((line) => line.requests > 0 || fill(line) !== undefined);
    if (!status || !today || panel.hidden) return;
    const others = status.lines.filter((line) => line !== today && isWorthARow(line));
    panel.replaceChildren(
      h('summary', { title: `The day of ${status.timeZone}` }, h('span', { class: 'budget-name' }, 'Today'), sumOf(today), meter(today)),
      ...others.map(row),
      ...(today.unpriced > 0 ? [h('p', { class: 'budget-note' }, `${count(today.unpriced)} tokens have no known price`)] : []),
    );
  }

  return {
    refresh,
    /** After turns, which may end many at a time. */
    refreshSoon() {
      waiting ??= setTimeout(() => void refresh(), 500);
    },
  };
}

/** Chats only as they near a limit: there may be many. @param {BudgetLine} line */
const isWorthARow = (line) => line.kind === 'agent-day' || (fill(line) ?? 0) >= (line.kind === 'session' ? 0.5 : 0.01);

/** @param {BudgetLine} line */
const row = (line) =>
  h('div', { class: 'budget-row' }, h('span', { class: 'budget-name', title: line.name }, nameOf(line)), sumOf(line), meter(line));

/** @param {BudgetLine} line */
const nameOf = ({ kind, name }) =>
  kind === 'agent' ? `${name}, altogether` : kind === 'session' ? name.replace(/^agent:[^:]+:/, 'Chat ') : name;

/** The amount that is nearest to its limit; without a limit the money, or where nothing has a price the tokens. @param {BudgetLine} line */
function sumOf({ tokens, usd }) {
  const isMoney = usd.limit === undefined && tokens.limit === undefined ? usd.spent > 0 : part(usd) > part(tokens);
  const text = isMoney ? spentOf(usd, dollars) : spentOf(tokens, count);
  return h('span', { class: 'budget-sum' }, isMoney ? text : `${text} tokens`);
}

/** @param {BudgetLine} line */
function meter(line) {
  const full = fill(line);
  if (full === undefined) return undefined;
  const title = [line.tokens.place, line.usd.place].filter(Boolean).join(', ');
  return h('meter', {
    min: 0,
    max: 1,
    high: 0.8,
    optimum: 0,
    value: Math.min(full, 1),
    title,
    'aria-label': `${Math.round(full * 100)} % spent`,
  });
}

/** @param {Amount} amount */
const part = ({ spent, limit }) => (limit === undefined ? -1 : spent / limit);
/** @param {BudgetLine} line */
const fill = ({ tokens, usd }) => (tokens.limit === undefined && usd.limit === undefined ? undefined : Math.max(part(tokens), part(usd)));
/** @param {Amount} amount @param {(value: number) => string} show */
const spentOf = ({ spent, limit }, show) => (limit === undefined ? show(spent) : `${show(spent)} of ${show(limit)}`);

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const count = (/** @type {number} */ value) => compact.format(value);
const dollars = (/** @type {number} */ value) => `$${value.toFixed(4).replace(value < 0.1 ? /0{1,2}$/ : /..$/, '')}`;
