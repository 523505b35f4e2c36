import { expect, test } from 'vitest';
import { definePlugin, StartReport } from '../../../kernel/index.ts';
import { ToolAbsences } from '../../../plugins/policy/contract.ts';
import policy from '../../../plugins/policy/index.ts';
import agents from '../../../plugins/agents/index.ts';
import { boot, withTools } from './catalog.ts';

const here = ['read', 'write', 'exec', 'own_tool'];
const report = (at: Awaited<ReturnType<typeof boot>>) =>
  at.kernel.run(async (run) => (await run.call(StartReport, [])).filter(({ label }) => label === 'policy').map(({ value }) => value));

test.each<readonly [string, object, readonly string[]]>([
  ['sound rules', { tools: { allow: ['read', 'group:fs', '*'], deny: ['exec'] } }, []],
  ['no rules', {}, []],
  ['a mistyped name', { tools: { deny: ['exce'] } }, ['tools.deny names "exce", which nobody knows; did you mean "exec"? (tools.deny[0])']],
  [
    'a mistyped group',
    { tools: { deny: ['group:fss'] } },
    ['tools.deny names "group:fss", which nobody knows; did you mean "group:fs"? (tools.deny[0])'],
  ],
  ['a name that is known and not here', { tools: { deny: ['browser'] } }, []],
  ['a tool of a server that is not here now', { tools: { deny: ['crm__find', 'crm__*'] } }, []],
  [
    'U061: a list that names nothing real tells unknown from not here',
    { tools: { allow: ['browser', 'reed'] } },
    [
      'tools.allow names no tool that is here, so it leaves none: "browser", which is known but not here ("instar tools explain" says why), "reed", which nobody knows; did you mean "read"? (tools.allow)',
    ],
  ],
  [
    'a policy that leaves no tool, and who is left without',
    { agents: { list: [{ id: 'a' }, { id: 'b', tools: { deny: ['*'] } }] } },
    [
      'agent "b" has no tool left: own_tool and 3 more went, the last one because: agents.list[1].tools.deny names "*" (agents.list[1].tools.deny[0])',
    ],
  ],
  [
    'alsoAllow without a profile',
    { tools: { alsoAllow: ['read'] } },
    ['tools.alsoAllow adds to a profile, and none is set: it changes nothing; set tools.profile or use allow (tools.alsoAllow)'],
  ],
  [
    'U054: a profile that hides what a plugin brings',
    { tools: { profile: 'coding' } },
    ['tools.profile hides what is set up here: own_tool; to offer it, tools.alsoAllow: ["own_tool"] (tools.profile)'],
  ],
  ['U054: a profile that was told to show it', { tools: { profile: 'coding', alsoAllow: ['own_tool'] } }, []],
  [
    'a mistyped name below byProvider',
    { tools: { byProvider: { x: { allow: ['read', 'wriet'] } } } },
    ['tools.byProvider.x.allow names "wriet", which nobody knows; did you mean "write"? (tools.byProvider.x.allow[1])'],
  ],
])('the start report tells of %s', async (_what, config, lines) => {
  await using at = await boot(here, config);
  expect(await report(at)).toEqual(lines);
});

test('U062: a guessed key for what sub-agents may is refused with the nearest one', async () => {
  await expect(boot(here, { tools: { subagents: { tool: { deny: ['exec'] } } } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    problems: [{ path: 'tools.subagents.tool', nearest: 'tools' }],
  });
});

test('a change that leaves no tool is told as it goes live, and once', async () => {
  await using at = await boot(here);
  const warnings = () => at.records.filter(({ level }) => level === 'warn').map(({ message }) => message);
  const plugins = [agents, withTools(here), policy];
  await at.apply(plugins, { tools: { allow: [] } });
  await expect.poll(warnings).toEqual([expect.stringMatching(/agent "main" has no tool left/)]);
  await at.apply([...plugins, definePlugin({ name: 'other', description: 'test', setup: () => {} })]);
  await at.kernel.drain();
  expect(warnings()).toHaveLength(1);
});

test('SPEC 2.1: a tool that cannot work here is known, and no mistake in a list', async () => {
  const absent = definePlugin({
    name: 'pay',
    description: 'test',
    setup: (ctx) => ctx.tap(ToolAbsences, (all) => [...all, { tool: 'pay', why: 'set pay.key' }]),
  });
  await using at = await boot(here, { tools: { deny: ['pay'] } }, [absent]);
  expect(await report(at)).toEqual([]);
});

test('a filter that fails does not stop the start: it is told', async () => {
  const { FilterPolicy } = await import('../../../kernel/index.ts');
  const broken = definePlugin({
    name: 'broken',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(FilterPolicy, () => {
        throw new Error('no rules today');
      }),
  });
  await using at = await boot(here, {}, [broken]);
  expect(await report(at)).toEqual([expect.stringMatching(/^could not be examined: .*no rules today/)]);
});
