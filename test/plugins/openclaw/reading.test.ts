import { describe, expect, test } from 'vitest';
import { isOpenClaw } from '../../../plugins/openclaw/contract.ts';
import { pathOf, readOpenClaw, readOwn } from '../../../plugins/openclaw/reading.ts';
import { sampleSchema } from './sample-schema.ts';

type Values = Readonly<Record<string, unknown>>;
const place = (path: string) => `f:${path}`;
const read = (text: Values) => readOpenClaw(text, sampleSchema, place);
const told = (text: Values, ...kinds: readonly string[]) =>
  read(text)
    .findings.filter(({ kind }) => kinds.includes(kind))
    .map(({ keys, why }) => (why === undefined ? pathOf(keys) : `${pathOf(keys)}: ${why}`));

test.each<[string, string | undefined, Values, boolean]>([
  ['by its name', '/home/a/openclaw.json', {}, true],
  ['by its name in Windows’ form', 'C:\\a\\OpenClaw.json5', {}, true],
  ['by the stamp in it', '/a/my.json5', { meta: { lastTouchedVersion: '2026.3.31' } }, true],
  ['by what it says of itself', undefined, { compat: 'openclaw' }, true],
  ['not, where it says so', '/a/openclaw.json', { compat: 'none', meta: { lastTouchedVersion: '1' } }, false],
  ['not by a name that only ends so', '/a/not-openclaw.json', {}, false],
  ['not by another meta', '/a/b.json5', { meta: 'x' }, false],
  ['not where nothing says so', '/a/instar.json5', { meta: null }, false],
])('SPEC 1.6: a config is recognised as OpenClaw’s %s', (_, file, values, is) => {
  expect(isOpenClaw(file, values)).toBe(is);
});

describe('SPEC 1.6: what has no effect here is told and gone', () => {
  test.each<[string, Values, Values, readonly string[]]>([
    ['a block that no plugin owns, once', { cron: { enabled: true, store: 'x' } }, {}, ['cron: no plugin here runs jobs by the clock yet']],
    [
      'a key inside one that is in use',
      { gateway: { port: 1, mode: 'local' } },
      { gateway: { port: 1 } },
      ['gateway.mode: the gateway always runs on this machine'],
    ],
    [
      'a value that is another’s',
      { gateway: { bind: 'lan' } },
      { gateway: {} },
      ['gateway.bind: only this machine can connect; reach it from elsewhere through a proxy or tunnel of yours'],
    ],
    [
      'a key whose form is known and which nobody reads',
      { agents: { defaults: { subagents: { allowAgents: ['*'] } } } },
      { agents: { defaults: { subagents: { allowAgents: ['*'] } } } },
      ['agents.defaults.subagents: no plugin here starts sub-agents yet'],
    ],
    [
      'an object that nobody has looked into yet',
      { session: { reset: { mode: 'daily' } } },
      { session: { reset: { mode: 'daily' } } },
      ['session.reset: no plugin here reads it yet'],
    ],
    [
      'a provider of a protocol that nobody speaks',
      { models: { providers: { a: { api: 'github-copilot', baseUrl: 'https://a' } } } },
      { models: { providers: {} } },
      ['models.providers.a: no plugin here speaks "github-copilot" yet; the other providers work'],
    ],
    [
      'a binding that is no route',
      {
        bindings: [
          { type: 'acp', agentId: 'main', match: { channel: 'a' } },
          { agentId: 'main', match: { channel: 'b' } },
        ],
      },
      { bindings: [{ agentId: 'main', match: { channel: 'b' } }] },
      ['bindings[0]: no plugin here binds a chat to an ACP session yet'],
    ],
  ])('%s', (_, text, kept, noEffect) => {
    expect(read(text).values).toEqual(kept);
    expect(told(text, 'no effect')).toEqual(noEffect);
    expect(told(text, 'warning', 'error')).toEqual([]);
  });

  test('a key is in use as soon as the schema says that another plugin reads it', () => {
    expect(told({ agents: { defaults: { heartbeat: { every: '30m' } } } }, 'in use', 'no effect')).toEqual([
      'agents.defaults.heartbeat.every',
    ]);
  });

  test('what restricts an agent there and not here is a warning', () => {
    const text = { agents: { defaults: { sandbox: { mode: 'all', docker: { image: 'x' } } } } };
    expect(told(text, 'warning')).toEqual([
      expect.stringMatching(/^agents\.defaults\.sandbox: has no effect: the sandbox here has no such setting/),
    ]);
    expect(read(text).values).toEqual({ agents: { defaults: { sandbox: { mode: 'all' } } } });
  });
});

describe('SPEC 1.6: what OpenClaw tolerates is a warning, and its behaviour holds', () => {
  test.each<[string, Values, Values, string]>([
    [
      'an unknown key has no effect',
      { agents: { list: [{ id: 'a', identty: 1 }] } },
      { agents: { list: [{ id: 'a' }] } },
      'agents.list[0].identty: unknown key "identty" has no effect (did you mean "identity"?)',
    ],
    [
      'so has one in a block that has none',
      { logging: { level: 'info', fil: 1 } },
      {},
      'logging.fil: unknown key "fil" has no effect (did you mean "file"?)',
    ],
    ['so has one at the top', { frobnicate: 1 }, {}, 'frobnicate: unknown key "frobnicate" has no effect'],
    [
      'so has one that is there only to be refused',
      { agents: { list: [{ id: 'a', systemPrompt: 'x' }] } },
      { agents: { list: [{ id: 'a' }] } },
      'agents.list[0].systemPrompt: has no effect: write AGENTS.md',
    ],
    [
      'of two agents with one id the first counts',
      { agents: { list: [{ id: 'a', default: true }, { id: 'b' }, { id: ' A', identity: { name: 'x' } }] } },
      { agents: { list: [{ id: 'a', default: true }, { id: 'b' }] } },
      'agents.list[2].id: agent "a" is there already at f:agents.list[0].id; the first counts, this one has no effect',
    ],
    [
      'a binding to nobody goes to the default agent',
      { agents: { list: [{ id: 'a' }, { id: 'b', default: true }] }, bindings: [{ agentId: 'gone', match: { channel: 'x' } }] },
      { agents: { list: [{ id: 'a' }, { id: 'b', default: true }] }, bindings: [{ agentId: 'b', match: { channel: 'x' } }] },
      'bindings[0].agentId: there is no agent "gone"; the default agent "b" answers',
    ],
    [
      'an agent that may be started and is none is passed over',
      { agents: { list: [{ id: 'a', subagents: { allowAgents: ['x', 'A', '*'] } }] } },
      { agents: { list: [{ id: 'a', subagents: { allowAgents: ['A', '*'] } }] } },
      'agents.list[0].subagents.allowAgents[0]: there is no agent "x"; it is passed over',
    ],
  ])('%s', (_, text, kept, warning) => {
    expect(read(text).values).toEqual(kept);
    expect(told(text, 'warning')).toEqual([warning]);
    expect(told(text, 'error')).toEqual([]);
  });

  test('a duplicate agentDir stays an error, but not that of an agent that has no effect', () => {
    const list = [
      { id: 'a', agentDir: '/x/' },
      { id: 'b', agentDir: '/x' },
      { id: 'A', agentDir: '/x' },
    ];
    expect(told({ agents: { list } }, 'error')).toEqual([
      "agents.list[1].agentDir: the folder is another agent's already, at f:agents.list[0].agentDir; give each agent its own",
    ]);
  });
});

describe('SPEC 1.6: what has another form is translated', () => {
  const block = { baseUrl: 'https://a/v1', models: [{ id: 'm' }] };
  test.each<[string, Values, Values]>([
    [
      'the gateway’s password is its token',
      { gateway: { auth: { mode: 'password', password: 'p' } } },
      { gateway: { auth: { token: 'p' } } },
    ],
    [
      'but not beside a token',
      { gateway: { auth: { mode: 'password', password: 'p', token: 't' } } },
      { gateway: { auth: { token: 't' } } },
    ],
    ['nor where it is not asked for', { gateway: { auth: { password: 'p' } } }, { gateway: { auth: {} } }],
    [
      'origins of the page',
      { gateway: { controlUi: { allowedOrigins: ['*', 'https://a'] } } },
      { gateway: { allowedOrigins: ['https://a'] } },
    ],
    [
      'an id that is no folder’s name',
      { agents: { list: [{ id: 'Work Bot' }] }, bindings: [{ agentId: 'work bot', match: { channel: 'x' } }] },
      { agents: { list: [{ id: 'work-bot' }] }, bindings: [{ agentId: 'work-bot', match: { channel: 'x' } }] },
    ],
    [
      'Ollama by its OpenAI door',
      { models: { providers: { o: { api: 'ollama', baseUrl: 'http://h:1/', models: [{ id: 'm' }] } } } },
      { models: { providers: { o: { api: 'openai-completions', baseUrl: 'http://h:1/v1', models: [{ id: 'm' }] } } } },
    ],
    [
      'models that only the agents name',
      {
        agents: { defaults: { model: { primary: 'p/a/b', fallbacks: ['p/c', 'q/d'] } }, list: [{ id: 'x', model: 'p/e' }] },
        models: { providers: { p: { baseUrl: 'https://p' } } },
      },
      {
        agents: { defaults: { model: { primary: 'p/a/b', fallbacks: ['p/c', 'q/d'] } }, list: [{ id: 'x', model: 'p/e' }] },
        models: { providers: { p: { baseUrl: 'https://p', models: [{ id: 'a/b' }, { id: 'c' }, { id: 'e' }] } } },
      },
    ],
    [
      'limits of a provider',
      { models: { providers: { p: { ...block, contextWindow: 9 } } } },
      { models: { providers: { p: { baseUrl: 'https://a/v1', models: [{ id: 'm', contextWindow: 9 }] } } } },
    ],
    [
      'an old form',
      { agent: { model: 'p/m' }, identity: { name: 'N' } },
      { agents: { defaults: { model: 'p/m' }, list: [{ id: 'main', identity: { name: 'N' } }] } },
    ],
  ])('%s', (_, text, kept) => {
    expect(read(text).values).toEqual(kept);
    expect(told(text, 'error')).toEqual([]);
  });

  test('and told where it stands in the text', () => {
    expect(told({ agent: { model: 'p/m' } }, 'in use', 'warning')).toEqual([
      'agent: it is an old form, read as agents.defaults',
      'agent.model',
    ]);
  });
});

test('a secret reference is in use where a text may be, and `plugins` is left to the host', () => {
  const secret = { source: 'env', provider: 'default', id: 'TOKEN' };
  const text = { gateway: { auth: { token: secret } }, plugins: { allow: ['x'], entries: { nope: { enabled: true } } } };
  expect(read(text).values).toEqual(text);
  expect(told(text, 'in use')).toContain('gateway.auth.token');
  expect(told(text, 'no effect')).toEqual([
    expect.stringMatching(/^plugins\.allow: OpenClaw's plugins do not run here/),
    'plugins.entries.nope: no plugin of this name comes with Instar; one of yours would take it',
  ]);
});

test('a config of our own is forgiven nothing', () => {
  const text = {
    agents: {
      list: [
        { id: 'a', agentDir: '/x', modle: 1 },
        { id: 'A', agentDir: '/y', subagents: { allowAgents: ['gone'] } },
      ],
    },
    cron: {},
  };
  const { values, findings } = readOwn(text, sampleSchema, place);
  expect(values).toBe(text);
  expect(findings.filter(({ kind }) => kind === 'error').map(({ keys, why }) => `${pathOf(keys)}: ${why}`)).toEqual([
    'agents.list[0].modle: unknown key "modle" (did you mean "model"?)',
    'cron: unknown key "cron"',
    'agents.list[1].id: agent "a" is there already at f:agents.list[0].id; rename or remove one',
    'agents.list[1].subagents.allowAgents[0]: there is no agent "gone"; name one of: a, or *',
  ]);
});
