import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run } from '../../../plugins/budget/command.ts';
import type { BudgetLine, BudgetStatus } from '../../../plugins/budget/contract.ts';
import type { CommandHost } from '../../../plugins/cli/contract.ts';

let printed: string[] = [];
beforeEach(() => {
  printed = [];
  for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation((line: string) => void printed.push(line));
});
afterEach(() => void vi.restoreAllMocks());

const asked: [string, unknown][] = [];
const host = (answer: unknown) =>
  ({
    ask: async (method: string, params: unknown) => (asked.push([method, params]), answer),
  }) as unknown as CommandHost;
const plain = () => printed.join('\n').replaceAll(/\u001b\[\d+m/g, '');

const line = (more: Partial<BudgetLine>): BudgetLine => ({
  kind: 'day',
  name: '2026-11-30',
  requests: 1,
  tokens: { spent: 1200, held: 0 },
  usd: { spent: 0.0123, held: 0 },
  unpriced: 0,
  ...more,
});
const status = (...lines: BudgetLine[]): BudgetStatus => ({ day: '2026-11-30', timeZone: 'UTC', lines });

test('budget shows what is spent of which limit and where it is set, each place once', async () => {
  const place = 'budget.session.tokens (instar.json5:2:3)';
  const session = (name: string) => line({ kind: 'session', name, tokens: { spent: 1200, held: 300, limit: 5000, place } });
  expect(await run([], host(status(line({ unpriced: 12 }), session('a'), session('b'))))).toBe(0);
  expect(plain()).toBe(
    [
      '  Today, all agents  UTC',
      '    2026-11-30  1,200 tokens           $0.0123  1 request',
      '                12 tokens have no known price and are in no sum of money',
      '  Sessions',
      '    a           1,200 of 5,000 tokens  $0.0123  1 request',
      '                300 tokens reserved by requests under way',
      '                budget.session.tokens (instar.json5:2:3)',
      '    b           1,200 of 5,000 tokens  $0.0123  1 request',
      '                300 tokens reserved by requests under way',
    ].join('\n'),
  );
});

test('without a limit it says how one is set', async () => {
  await run([], host(status(line({}))));
  expect(plain()).toContain('no limit is set; e.g. budget: { day: { usd: 5 } }');
});

test('reset names whose counts begin anew; another word is told with what was meant', async () => {
  asked.length = 0;
  expect(await run(['reset', '--agent', 'main'], host({ reset: 2 }))).toBe(0);
  expect(asked).toEqual([['budget.reset', { agentId: 'main' }]]);
  await expect(run(['rest'], host({}))).rejects.toMatchObject({
    code: 'CLI_USAGE',
    message: expect.stringContaining('did you mean "reset"?'),
  });
  expect(asked).toHaveLength(1);
});
