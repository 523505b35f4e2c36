import { expect, test } from 'vitest';
import { DecideTool, definePlugin, FilterPolicy, type Subject } from '../../../kernel/index.ts';
import { GroupTools, groupToolsIn, type ChannelGroups, NativeSearch } from '../../../plugins/policy/contract.ts';
import { textOf } from '../../support/toolbench.ts';
import { boot, offered, toolOf } from './catalog.ts';

type Row = readonly [what: string, subject: Subject, config: object, left: readonly string[], told?: Readonly<Record<string, unknown>>];
const owner: Subject = { agent: 'main', sender: 'owner', provider: 'mock', model: 'm', channel: 'chat', depth: 0 };
const by = (subject: Subject): Subject => ({ ...owner, ...subject });

const media = ['read', 'canvas', 'image', 'pdf', 'tts', 'web_fetch', 'web_search', 'exec'];
const channelRows: readonly Row[] = [
  ['chat keeps all', owner, {}, media],
  ['voice loses tts', by({ channel: 'voice' }), {}, media.filter((tool) => tool !== 'tts'), { tool: 'tts', layer: 'channel' }],
  ['Voice is voice', by({ channel: 'Voice' }), {}, media.filter((tool) => tool !== 'tts')],
  ['node keeps six', by({ channel: 'node' }), {}, media.slice(1, 7), { tool: 'exec', layer: 'channel', rule: 'channel node' }],
  [
    'allow gives nothing back',
    by({ channel: 'node' }),
    { tools: { profile: 'full', alsoAllow: ['exec'], allow: ['*'] } },
    media.slice(1, 7),
  ],
  ['a channel called like a property of objects is a channel', by({ channel: 'constructor' }), {}, media],
];
test.for(channelRows)('SPEC 3.1: %s', async ([, subject, config, left, told]) => check(media, subject, config, left, told));

const native = definePlugin({
  name: 'codex',
  description: 'test',
  setup: (ctx) =>
    ctx.tap(NativeSearch, ({ provider }) =>
      provider === 'openai-codex' ? { why: 'OpenAI Codex searches the web itself', path: 'models.providers.openai-codex' } : undefined,
    ),
});
test.each([
  ['goes while the provider searches itself', by({ provider: 'openai-codex' }), ['web_fetch']],
  ['stays with another provider', owner, ['web_search', 'web_fetch']],
] as const)('SPEC 3.2: web_search %s', async (_what, subject, left) => {
  await using at = await boot(['web_search', 'web_fetch'], {}, [native]);
  const offer = await offered(at, subject);
  expect(offer.left).toEqual(left);
  if (left.length === 1)
    expect(offer.removed).toMatchObject([{ tool: 'web_search', layer: 'provider', why: 'OpenAI Codex searches the web itself' }]);
});

const owned = ['read', 'cron', 'gateway', 'nodes', 'whatsapp_login', 'mine'];
const ownerRows: readonly Row[] = [
  ['an owner has them', owner, {}, owned],
  ['the gateway itself has them', by({ sender: 'internal' }), {}, owned],
  ['a known sender has not', by({ sender: 'known' }), {}, ['read'], { tool: 'mine', layer: 'owner' }],
  ['an unknown sender has not', by({ sender: 'unknown' }), {}, ['read'], { tool: 'cron', rule: 'owner only' }],
  ['nobody in particular has not', { agent: 'main' }, {}, ['read']],
  ['no rule gives them back', by({ sender: 'known' }), { tools: { profile: 'full', alsoAllow: owned } }, ['read']],
];
test.for(ownerRows)('SPEC 3.3: owner-only tools: %s', async ([, subject, config, left, told]) => check(owned, subject, config, left, told));

const some = ['read', 'write', 'exec', 'web_fetch', 'session_status', 'message', 'crm__find', 'own_tool'];
const agent = (tools: object) => ({ agents: { list: [{ id: 'main', tools }] } });
const configRows: readonly Row[] = [
  ['a profile of the provider narrows', owner, { tools: { byProvider: { mock: { profile: 'minimal' } } } }, ['session_status']],
  [
    'a profile of the model replaces that of its provider',
    owner,
    { tools: { byProvider: { mock: { profile: 'minimal' }, 'mock/m': { profile: 'messaging' } } } },
    ['session_status', 'message'],
    { tool: 'read', path: 'tools.byProvider["mock/m"].profile' },
  ],
  ['a key of byProvider is told by no case', owner, { tools: { byProvider: { MOCK: { allow: ['read'] } } } }, ['read']],
  [
    'lists of provider and model both narrow',
    owner,
    { tools: { byProvider: { mock: { deny: ['read'] }, 'mock/m': { allow: ['read', 'write'] } } } },
    ['write'],
  ],
  [
    "the agent's own list for the provider narrows last",
    owner,
    { tools: { allow: ['read', 'write', 'exec'] }, ...agent({ deny: ['exec'], byProvider: { mock: { deny: ['write'] } } }) },
    ['read'],
    { tool: 'write', path: 'agents.list[0].tools.byProvider.mock.deny[0]' },
  ],
  [
    "the agent's profile replaces, and so does its alsoAllow",
    owner,
    { tools: { profile: 'coding', alsoAllow: ['own_tool'] }, ...agent({ profile: 'minimal', alsoAllow: ['read'] }) },
    ['read', 'session_status'],
  ],
  [
    'alsoAllow does not add to a list',
    owner,
    { tools: { profile: 'minimal', alsoAllow: ['read'], allow: ['session_status'] } },
    ['session_status'],
  ],
  ['deny wins over alsoAllow', owner, { tools: { profile: 'minimal', alsoAllow: ['read'], deny: ['read'] } }, ['session_status']],
  ['group:plugins is what the catalog does not have', owner, { tools: { allow: ['group:plugins'] } }, ['crm__find', 'own_tool']],
  [
    'group:openclaw is the catalog without files and commands',
    owner,
    { tools: { allow: ['group:openclaw'] } },
    ['web_fetch', 'session_status', 'message'],
  ],
  ['a wildcard of one server', owner, { tools: { deny: ['crm__*'] } }, some.filter((tool) => tool !== 'crm__find')],
  ['several wildcards', owner, { tools: { allow: ['*e*_*t*'] } }, ['web_fetch', 'session_status']],
  ['another name of exec', owner, { tools: { deny: ['bash'] } }, some.filter((tool) => tool !== 'exec')],
  ['case does not save a tool', owner, { tools: { deny: ['Exec', 'GROUP:FS'] } }, some.slice(3)],
];
test.for(configRows)('SPEC 3.4: %s', async ([, subject, config, left, told]) => check(some, subject, config, left, told));

const groups: ChannelGroups = {
  '-1001': { tools: { deny: ['exec'] }, toolsBySender: { '42': { allow: ['read'] }, 'id:43': { deny: ['*'] }, 'name:Ann': { deny: [] } } },
  '-1002': { toolsBySender: { '*': { allow: ['message'] } } },
  '*': { tools: { allow: ['read', 'message'] } },
};
const channels = definePlugin({
  name: 'channels',
  description: 'test',
  setup: (ctx) => ctx.tap(GroupTools, groupToolsIn('telegram', groups)),
});
const inGroup = (group: string, senderId?: string) => ({ ...owner, channel: 'telegram', group, ...(senderId && { senderId }) });
test.each([
  ['its own rules', inGroup('-1001'), ['read', 'message'], 'channels.telegram.groups["-1001"].tools.deny[0]'],
  ['those of a sender, by id', inGroup('-1001', '42'), ['read'], 'channels.telegram.groups["-1001"].toolsBySender["42"].allow'],
  ['an id with its kind', inGroup('-1001', '43'), [], 'channels.telegram.groups["-1001"].toolsBySender["id:43"].deny[0]'],
  ['a name is no id', inGroup('-1001', 'Ann'), ['read', 'message'], 'channels.telegram.groups["-1001"].tools.deny[0]'],
  ['any sender', inGroup('-1002', '9'), ['message'], 'channels.telegram.groups["-1002"].toolsBySender["*"].allow'],
  ['those of every group', inGroup('-77'), ['read', 'message'], 'channels.telegram.groups["*"].tools.allow'],
  ['a group called like a property of objects', inGroup('toString'), ['read', 'message'], 'channels.telegram.groups["*"].tools.allow'],
])('SPEC 3.4: in a group: %s', async (_what, subject, left, path) => {
  await using at = await boot(['read', 'exec', 'message'], { tools: { allow: ['read', 'exec', 'message'] } }, [channels]);
  const offer = await offered(at, subject);
  expect(offer.left).toEqual(left);
  expect(offer.removed).toContainEqual(expect.objectContaining({ tool: 'exec', layer: 'config', path }));
});

test('SPEC 3.4: outside of groups the rules of groups do not count', async () => {
  await using at = await boot(['read', 'exec'], {}, [channels]);
  expect((await offered(at, { ...owner, channel: 'telegram' })).left).toEqual(['read', 'exec']);
});

const children = [
  'read',
  'gateway',
  'agents_list',
  'whatsapp_login',
  'session_status',
  'cron',
  'memory_search',
  'memory_get',
  'sessions_send',
  'sessions_spawn',
  'subagents',
  'sessions_list',
  'sessions_history',
];
const leaf = ['sessions_spawn', 'subagents', 'sessions_list', 'sessions_history'];
const child = by({ session: 'subagent', depth: 1 });
const deeper = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } };
const subagentTools = (tools: object) => ({ tools: { subagents: { tools } } });
const subagentRows: readonly Row[] = [
  ['nobody else loses anything', owner, {}, children],
  [
    'a child is a leaf by default',
    child,
    {},
    ['read'],
    { tool: 'sessions_spawn', layer: 'confinement', rule: 'agents.defaults.subagents.maxSpawnDepth' },
  ],
  ['depth alone tells a child', by({ depth: 1 }), {}, ['read'], { tool: 'cron', rule: 'sub-agent default' }],
  ['an orchestrator keeps what children need', child, deeper, ['read', ...leaf]],
  ['a leaf below it does not', by({ session: 'subagent', depth: 2 }), deeper, ['read']],
  ["the agent's own depth counts", child, { agents: { list: [{ id: 'main', subagents: { maxSpawnDepth: 3 } }] } }, ['read', ...leaf]],
  ['deny adds to the default', child, subagentTools({ deny: ['read'] }), []],
  ['allow only restricts', child, { ...deeper, ...subagentTools({ allow: ['read'] }) }, ['read']],
  ['a wildcard gives back nothing that is lost by default', child, { ...deeper, ...subagentTools({ allow: ['*'] }) }, ['read', ...leaf]],
  ['a name on the list gives it back', child, subagentTools({ allow: ['read', 'cron'] }), ['read', 'cron']],
  ['alsoAllow gives back and restricts nothing', child, subagentTools({ alsoAllow: ['memory_get'] }), ['read', 'memory_get']],
  ['deny wins over both', child, subagentTools({ alsoAllow: ['cron'], allow: ['cron'], deny: ['cron'] }), []],
  [
    'nothing gives a leaf its children',
    child,
    subagentTools({ allow: children, alsoAllow: leaf }),
    children.filter((tool) => !leaf.includes(tool)),
  ],
];
test.for(subagentRows)('SPEC 3.5: sub-agent: %s', async ([, subject, config, left, told]) => check(children, subject, config, left, told));

const boxed = by({ sandboxed: true });
const sandboxTools = (tools: object) => ({ tools: { sandbox: { tools } } });
const inBox = ['read', 'exec', 'browser', 'canvas', 'cron', 'gateway', 'nodes'];
const sandboxRows: readonly Row[] = [
  ['nobody else loses anything', owner, sandboxTools({ deny: ['*'] }), inBox],
  [
    'what reaches out of it goes',
    boxed,
    {},
    ['read', 'exec'],
    { tool: 'browser', layer: 'confinement', rule: 'sandboxed session default' },
  ],
  ['allow restricts', boxed, sandboxTools({ allow: ['read'] }), ['read'], { tool: 'exec', path: 'tools.sandbox.tools.allow' }],
  ['deny denies', boxed, sandboxTools({ deny: ['exec'] }), ['read']],
  ['a name gives back', boxed, sandboxTools({ alsoAllow: ['browser'] }), ['read', 'exec', 'browser']],
  [
    "the agent's own rules narrow too",
    boxed,
    { ...sandboxTools({ deny: ['exec'] }), ...agent({ sandbox: { tools: { deny: ['read'] } } }) },
    [],
  ],
  ['sandbox and sub-agent both narrow', { ...boxed, session: 'subagent', depth: 1 }, subagentTools({ deny: ['exec'] }), ['read']],
];
test.for(sandboxRows)('SPEC 3.5: sandbox: %s', async ([, subject, config, left, told]) => check(inBox, subject, config, left, told));

test.each([
  [{ runtime: 'acp' }, true],
  [{ sandbox: 'off' }, true],
  [{ runtime: 'subagent' }, false],
])('SPEC 3.7: sessions_spawn %j from a sandbox is judged by its arguments', async (args, isDenied) => {
  await using at = await boot(['sessions_spawn']);
  const result = await at.callTool('sessions_spawn', args, { subject: boxed });
  expect(textOf(result)).toEqual(isDenied ? expect.stringMatching(/denied: a sandboxed session starts no/) : 'ran');
});

test('SPEC 3.7: policy.decide itself refuses what a layer removed, whatever was offered', async () => {
  await using at = await boot(['read', 'write'], { tools: { deny: ['write'] } });
  const decide = (name: string) =>
    at.kernel.run((run) => run.call(DecideTool, { id: '1', tool: toolOf(name), args: {} }), { subject: { ...owner, sender: 'known' } });
  expect(await decide('write')).toEqual({ kind: 'deny', why: 'tools.deny names "write"', rule: 'tools.deny[0]' });
  expect(await decide('gateway')).toMatchObject({ kind: 'deny', rule: 'owner only' });
  expect(await decide('read')).toMatchObject({ kind: 'allow' });
});

test('a filter of another plugin gives nothing back that a layer removed', async () => {
  const late = definePlugin({
    name: 'late',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(FilterPolicy, ({ tools, removed }) => ({ tools: [...tools, { ...tools[0], name: 'exec' } as never], removed }), 90),
  });
  await using at = await boot(['read', 'exec'], { tools: { deny: ['exec'] } }, [late]);
  expect((await offered(at, owner)).left).toEqual(['read']);
});

async function check(names: readonly string[], subject: Subject, config: object, left: readonly string[], told: Row[4]) {
  await using at = await boot(names, config);
  const offer = await offered(at, subject);
  expect(offer.left.toSorted()).toEqual([...left].toSorted());
  if (told) expect(offer.removed).toContainEqual(expect.objectContaining(told));
  for (const name of names) {
    if (name === 'exec') continue; // left to its own judge
    const said = textOf(await at.callTool(name, {}, { subject }));
    expect(said, `SPEC 3.7: ${name}`).toEqual(left.includes(name) ? 'ran' : expect.stringMatching(/not available here|denied/));
  }
}
