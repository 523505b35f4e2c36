import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Host, JsonSchema } from '../../../kernel/index.ts';
import { idleKeys } from '../../../plugins/security/contract.ts';
import { idleFindings } from '../../../plugins/security/rules/idle.ts';

const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schemas/config.schema.json'), 'utf8')) as JsonSchema;
const without =
  (...off: readonly string[]) =>
  (plugin: string) =>
    !off.includes(plugin);
const told = (config: object, ...off: readonly string[]) =>
  idleKeys(config as never, schema, without(...off)).map(({ path, plugin, isSafety }) => `${path} ${plugin}${isSafety ? ' safety' : ''}`);

const server = { command: 'x', args: ['a'] };
const rows: readonly (readonly [what: string, config: object, off: readonly string[], found: readonly string[]])[] = [
  ['a limit', { budget: { day: { usd: 1 }, keepDays: 3 } }, ['budget'], ['budget.day.usd budget safety', 'budget.keepDays budget']],
  [
    'a field that the plugin added to agents, of one and of all',
    { agents: { defaults: { budget: { run: { tokens: 1 } } }, list: [{ id: 'a', budget: { total: { usd: 1 } } }] } },
    ['budget'],
    ['agents.defaults.budget.run.tokens budget safety', 'agents.list[0].budget.total.usd budget safety'],
  ],
  ['a block below another plugin’s', { tools: { deny: ['exec'], exec: { security: 'deny' } } }, ['tools-exec'], ['tools.exec.security tools-exec']],
  ['the rules of tools, and not what is below them', { tools: { deny: ['exec'], exec: { ask: 'off' } } }, ['policy'], ['tools.deny[0] policy safety']],
  ['who gets a message', { bindings: [{ agentId: 'a', match: { channel: 'x' } }] }, ['routing'], ['bindings[0].agentId routing safety', 'bindings[0].match.channel routing safety']],
  ['a map of blocks', { mcp: { servers: { s: server } } }, ['mcp'], ['mcp.servers.s.command mcp', 'mcp.servers.s.args[0] mcp']],
  ['what is kept for later in its own place', { plugins: { entries: { drill: { enabled: false, config: { a: 1 } } } } }, ['drill'], []],
  ['nothing where all are there', { budget: { day: { usd: 1 } }, tools: { deny: ['exec'] } }, [], []],
]; // biome-ignore format: a table to read across
test.each(rows)('keys that nobody heeds are found: %s', (_, config, off, found) => expect(told(config, ...off)).toEqual(found));

const hostOf = (live: readonly string[], leftOut: readonly object[] = []) =>
  ({ inspect: () => ({ instances: live.map((plugin) => ({ plugin })), leftOut }) }) as unknown as Host;
const off = { plugins: { entries: { budget: { enabled: false } } } };

test('a key that promises safety, of a plugin that is off, is a warning at its place; of one that failed, with the reason', () => {
  const config = { ...off, budget: { day: { usd: 1, tokens: 2 }, run: { usd: 1 }, session: { usd: 1 }, onLimit: 'refuse' } };
  expect(idleFindings(config, hostOf(['policy']))).toEqual([
    {
      severity: 'warning',
      code: 'guard-idle',
      path: 'budget.day.usd',
      message: 'budget.day.usd, budget.day.tokens, budget.run.usd and 1 more have no effect: plugin "budget" is off',
      mend: 'instar plugins enable budget',
    },
  ]);
  const failed = hostOf(['policy'], [{ plugin: 'mcp', why: 'it broke' }]);
  expect(idleFindings({ mcp: { servers: { s: server } } }, failed)).toEqual([
    expect.objectContaining({
      severity: 'note',
      code: 'key-idle',
      message: expect.stringContaining('left out (it broke)'),
      mend: 'instar plugins inspect mcp',
    }),
  ]);
  expect(idleFindings(off, hostOf(['policy']))).toEqual([]);
});
