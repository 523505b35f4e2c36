import { parseArgs } from 'node:util';
import { nearest } from '../../kernel/index.ts';
import { bold, dim, misused, oneLine, type RunCommand } from '../cli/contract.ts';
import type { Amount, BudgetLine, BudgetStatus } from './contract.ts';
import { dollars } from './refusal.ts';

const options = { json: { type: 'boolean' }, agent: { type: 'string' }, session: { type: 'string' } } as const;

/** `instar budget` and `instar budget reset`. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const [verb, ...rest] = positionals;
  if (rest.length > 0 || (verb !== undefined && verb !== 'reset')) throw unknown(verb === 'reset' ? rest[0] : verb);
  const { agent, session, json } = values;
  const params = { ...(agent && { agentId: agent }), ...(session && { sessionKey: session }) };
  if (verb === 'reset') {
    const answer = await host.ask<{ readonly reset: number }>('budget.reset', params);
    const who = session ? `session ${session}` : agent ? `agent ${agent}` : 'everything';
    console.log(json ? JSON.stringify(answer) : `${bold(oneLine(who))} counts anew from zero`);
    return 0;
  }
  const status = await host.ask<BudgetStatus>('budget.status', params);
  console.log(json ? JSON.stringify(status) : shown(status));
  return 0;
};

function unknown(word = '') {
  const near = nearest(word, ['reset']);
  return misused(`budget has no "${oneLine(word)}"${near ? `; did you mean "${near}"?` : ''}`);
}

const titles: Readonly<Record<BudgetLine['kind'], string>> = {
  day: 'Today, all agents',
  'agent-day': 'Agents, today',
  agent: 'Agents, altogether',
  session: 'Sessions',
  run: 'Turns',
};

export function shown({ day, timeZone, lines }: BudgetStatus): string {
  const byKind = Map.groupBy(lines, ({ kind }) => kind);
  const width = Math.max(...lines.map(({ name }) => Math.min(name.length, nameWidth)));
  const cells = lines.map(({ tokens }) => tokensOf(tokens).length);
  const told = new Set<string>();
  const table = [...byKind].flatMap(([kind, all]) => [
    `  ${bold(titles[kind])}${kind === 'day' ? dim(`  ${timeZone}`) : ''}`,
    ...all.flatMap((line) => rows(line, kind === 'day' ? day : line.name, width, Math.max(...cells), told)),
  ]);
  const hasLimit = lines.some(({ tokens, usd }) => tokens.limit !== undefined || usd.limit !== undefined);
  return [...table, ...(hasLimit ? [] : ['', dim('  no limit is set; e.g. budget: { day: { usd: 5 } }')])].join('\n');
}

const nameWidth = 48;

function rows(
  { tokens, usd, unpriced, requests }: BudgetLine,
  name: string,
  width: number,
  cell: number,
  told: Set<string>,
): readonly string[] {
  const money = `${dollars(usd.spent)}${usd.limit === undefined ? '' : ` of ${dollars(usd.limit)}`}`;
  const isFull = [tokens, usd].some(({ spent, held, limit }) => limit !== undefined && spent + held >= limit);
  const indent = ' '.repeat(6 + width);
  const about = [
    ...(tokens.held > 0 ? [`${count(tokens.held)} tokens reserved by requests under way`] : []),
    ...(unpriced > 0 ? [`${count(unpriced)} tokens have no known price and are in no sum of money`] : []),
    ...[tokens.place, usd.place].filter((place) => place !== undefined && !told.has(place)),
  ];
  for (const place of [tokens.place, usd.place]) if (place !== undefined) told.add(place); // once each
  const sums = `${tokensOf(tokens).padEnd(cell)}  ${money}`;
  return [
    `    ${oneLine(name, nameWidth).padEnd(width)}  ${isFull ? bold(sums) : sums}  ${dim(`${count(requests)} ${requests === 1 ? 'request' : 'requests'}`)}`,
    ...about.map((line) => `${indent}${dim(oneLine(line ?? '', 200))}`),
  ];
}

const count = (amount: number) => amount.toLocaleString('en-US');
const tokensOf = ({ spent, limit }: Amount) => `${count(spent)}${limit === undefined ? '' : ` of ${count(limit)}`} tokens`;
