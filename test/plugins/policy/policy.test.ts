import { expect, test } from 'vitest';
import { definePlugin, RegisterTools, text, type Subject, type Tool } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import policy from '../../../plugins/policy/index.ts';
import { bootTest } from '../../support/kernel.ts';
import { textOf } from '../../support/toolbench.ts';

const names = ['read', 'write', 'edit', 'apply_patch', 'exec', 'web_fetch', 'session_status', 'cron', 'message', 'plugin_tool', 'mine'];
const toolOf = (name: string): Tool => ({
  name,
  description: '',
  parameters: { type: 'object' },
  ...(name === 'mine' && { ownerOnly: true }),
  execute: () => text('ran'),
});
const tools = definePlugin({
  name: 'tools',
  description: 'test',
  setup: (ctx) => ctx.tap(RegisterTools, (all) => [...all, ...names.map(toolOf)]),
});

const owner: Subject = { agent: 'main', sender: 'owner', provider: 'mock', model: 'm' };
const boot = (config: object) => bootTest([agents, tools, policy], { ...config });

interface Row {
  readonly what: string;
  readonly config?: object;
  readonly subject?: Subject;
  /** What is left, in the order of `names`. */
  readonly left: readonly string[];
  /** One removal that must be told, with its config path. */
  readonly told?: readonly [tool: string, rule: string, why: RegExp];
}
const all = names;
const less = (...gone: string[]) => names.filter((name) => !gone.includes(name));

const rows: readonly Row[] = [
  { what: 'nothing configured leaves an owner everything', left: all },
  { what: 'the gateway itself is as an owner', subject: { ...owner, sender: 'internal' }, left: all },
  {
    what: 'a known sender loses owner-only tools, by name or by mark',
    subject: { ...owner, sender: 'known' },
    left: less('cron', 'mine'),
    told: ['cron', 'owner only', /owners alone; the sender is known/],
  },
  { what: 'a sender that is not given is not an owner', subject: { agent: 'main' }, left: less('cron', 'mine') },
  {
    what: 'allow cannot give owner-only tools to others',
    config: { tools: { allow: ['*'] } },
    subject: { agent: 'main' },
    left: less('cron', 'mine'),
  },
  {
    what: 'profile minimal',
    config: { tools: { profile: 'minimal' } },
    left: ['session_status'],
    told: ['read', 'tools.profile', /profile "minimal"/],
  },
  { what: 'profile full', config: { tools: { profile: 'full' } }, left: all },
  { what: 'profile coding', config: { tools: { profile: 'coding' } }, left: less('message', 'plugin_tool', 'mine') },
  { what: 'profile messaging', config: { tools: { profile: 'messaging' } }, left: ['session_status', 'message'] },
  {
    what: 'alsoAllow adds to a profile',
    config: { tools: { profile: 'minimal', alsoAllow: ['plugin_*'] } },
    left: ['session_status', 'plugin_tool'],
  },
  {
    what: 'allow names a group',
    config: { tools: { allow: ['group:fs', 'exec'] } },
    left: ['read', 'write', 'edit', 'apply_patch', 'exec'],
  },
  {
    what: 'an empty allow list allows nothing',
    config: { tools: { allow: [] } },
    left: [],
    told: ['read', 'tools.allow', /not on the list/],
  },
  {
    what: 'deny names a group',
    config: { tools: { deny: ['web_fetch', 'group:runtime'] } },
    left: less('web_fetch', 'exec'),
    told: ['exec', 'tools.deny[1]', /tools\.deny names "group:runtime"/],
  },
  { what: 'deny wins over allow', config: { tools: { allow: ['read', 'write'], deny: ['write'] } }, left: ['read'] },
  { what: 'a wildcard', config: { tools: { deny: ['w*', '*_tool'] } }, left: less('write', 'web_fetch', 'plugin_tool') },
  { what: 'a wildcard is no regular expression', config: { tools: { deny: ['.*', 'rea.'] } }, left: all },
  { what: 'a deny of everything', config: { tools: { deny: ['*'] } }, left: [] },
  {
    what: 'a provider narrows',
    config: { tools: { byProvider: { mock: { deny: ['exec'] }, other: { deny: ['*'] } } } },
    left: less('exec'),
    told: ['exec', 'tools.byProvider.mock.deny[0]', /deny/],
  },
  {
    what: 'one model narrows',
    config: { tools: { byProvider: { 'mock/m': { profile: 'minimal' } } } },
    left: ['session_status'],
    told: ['read', 'tools.byProvider["mock/m"].profile', /minimal/],
  },
  {
    what: "an agent's own rules narrow further",
    config: { tools: { deny: ['exec'] }, agents: { list: [{ id: 'a' }, { id: 'main', tools: { deny: ['write'] } }] } },
    left: less('exec', 'write'),
    told: ['write', 'agents.list[1].tools.deny[0]', /deny/],
  },
  {
    what: 'rules of another agent do not count',
    config: { agents: { list: [{ id: 'main' }, { id: 'b', tools: { deny: ['*'] } }] } },
    left: all,
  },
  {
    what: 'defaults count where the agent has none',
    config: { agents: { defaults: { tools: { deny: ['exec'] } } } },
    left: less('exec'),
    told: ['exec', 'agents.defaults.tools.deny[0]', /deny/],
  },
  {
    what: "an agent's profile replaces the global one",
    config: { tools: { profile: 'minimal' }, agents: { list: [{ id: 'main', tools: { profile: 'messaging', alsoAllow: ['read'] } }] } },
    left: ['read', 'session_status', 'message'],
  },
  {
    what: "an agent's allow does not restore what the global list removed",
    config: { tools: { deny: ['exec'] }, agents: { list: [{ id: 'main', tools: { allow: ['exec', 'read'] } }] } },
    left: ['read'],
  },
];

test.each(rows)('SPEC 3: $what', async ({ config = {}, subject = owner, left, told }) => {
  await using at = await boot(config);
  const offer = await at.kernel.run((run) => run.tools(), { subject });
  expect(offer.tools.map((tool) => tool.name)).toEqual(left);
  expect(offer.removed.map((removal) => removal.tool).toSorted()).toEqual(less(...left).toSorted());
  if (told)
    expect(offer.removed).toContainEqual(expect.objectContaining({ tool: told[0], rule: told[1], why: expect.stringMatching(told[2]) }));
});

test('SPEC 3.7: every row is enforced again when the tool is called', async () => {
  for (const { what, config = {}, subject = owner, left } of rows) {
    await using at = await boot(config);
    for (const name of names) {
      const result = await at.kernel.run((run) => run.callTool({ id: '1', name, args: {} }), { subject });
      const runs = left.includes(name) && name !== 'exec';
      expect(textOf(result), `${what}: ${name}`).toEqual(runs ? 'ran' : expect.stringMatching(/not available here|denied/));
    }
  }
});

test('exec is left to its own judge: with none there it is denied', async () => {
  await using at = await boot({});
  const result = await at.kernel.run((run) => run.callTool({ id: '1', name: 'exec', args: {} }), { subject: owner });
  expect(result).toMatchObject({ isError: true, details: { code: 'TOOL_DENIED' } });
});

test('without the policy plugin every call is denied', async () => {
  await using at = await bootTest([agents, tools]);
  const result = await at.kernel.run((run) => run.callTool({ id: '1', name: 'read', args: {} }), { subject: owner });
  expect(textOf(result)).toContain('switch on "policy"');
});

test.each([
  ['tools', { tools: { denny: ['exec'] } }, 'tools.denny'],
  ['an agent', { agents: { list: [{ id: 'main', tools: { denny: [] } }] } }, 'agents.list[0].tools.denny'],
])('SPEC 1.3: a mistyped key in the rules of %s is refused with the nearest one', async (_what, config, path) => {
  await expect(boot(config)).rejects.toMatchObject({ code: 'CONFIG_INVALID', problems: [{ path, nearest: 'deny' }] });
});
