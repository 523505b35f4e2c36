import { expect, test } from 'vitest';
import { type JsonSchema, LoadConfig, type Plugin, type PluginConfig, service, type Swap } from '../../kernel/index.ts';
import type { Candidate } from '../../kernel/build.ts';
import { bootTest, entry, plugin, testKernel, type TestKernel } from '../support/kernel.ts';

const object = (properties: object, more: object = {}): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});
const text = { type: 'string' };

/** Plugins that write down the config they were set up with. */
function scene() {
  const seen: Record<string, unknown> = {};
  const owner = (name: string, config: PluginConfig, facts: Partial<Plugin> = {}) =>
    plugin(name, (ctx) => void (seen[name] = ctx.config), { config, ...facts });
  const gateway = owner('gateway', {
    at: 'gateway',
    schema: object({ port: { type: 'integer', default: 1 }, http: object({ limit: { type: 'integer', default: 9 } }, { default: {} }) }),
  });
  const chat = owner('chat', { at: 'gateway.http.chat', schema: object({ on: { type: 'boolean', default: false } }) });
  const provider = object({ url: text, key: text }, { required: ['url'] });
  const models = owner('models', {
    at: 'models',
    schema: object({
      mode: { enum: ['fast', 'slow'] },
      providers: { type: 'object', additionalProperties: provider, 'x-contained': true },
    }),
  });
  const agent = object({ id: text, model: { anyOf: [text, object({ primary: text })] } }, { 'x-place': 'agents.entry' });
  const agents = owner('agents', { at: 'agents', schema: object({ list: { type: 'array', items: agent } }) });
  const memory = owner('memory', { schema: object({ size: { type: 'integer', minimum: 1, default: 7 } }) });
  return { seen, owner, gateway, chat, models, agents, memory, all: [gateway, chat, models, agents, memory] };
}

const of = (plugins: readonly Plugin[], config: Candidate['config'], more: Partial<Candidate> = {}): Candidate => ({
  plugins: plugins.map((one) => entry(one)),
  config,
  ...more,
});
const leftOut = (t: TestKernel) => t.kernel.inspect().leftOut;
const built = (swap: Swap) => swap.built.map((one) => one.plugin);
const memoryConfig = (config: unknown) => ({ plugins: { entries: { memory: { config } } } });

test('a plugin is given what it owns and no more, with the defaults filled in', async () => {
  const { seen, all } = scene();
  await using t = await bootTest(all);
  expect(seen).toEqual({ gateway: { port: 1, http: { limit: 9 } }, chat: { on: false }, models: {}, agents: {}, memory: { size: 7 } });
  await t.apply(all, { gateway: { port: 2, http: { chat: { on: true } } }, ...memoryConfig({ size: 3 }) });
  expect(seen).toMatchObject({ gateway: { port: 2, http: { limit: 9 } }, chat: { on: true }, memory: { size: 3 } });
});

test('the config of the candidate is not changed by what plugins are given', async () => {
  const { gateway } = scene();
  const config = { gateway: {} };
  await using _ = await bootTest([gateway], config);
  expect(config).toEqual({ gateway: {} });
});

test.each<[string, object, object]>([
  ['at the top', { gatway: {} }, { path: 'gatway', message: 'unknown key "gatway"', nearest: 'gateway' }],
  ['in an owned part', { gateway: { prot: 1 } }, { path: 'gateway.prot', nearest: 'port' }],
  ['in a list', { agents: { list: [{ modle: 'x' }] } }, { path: 'agents.list[0].modle', message: 'unknown key "modle"', nearest: 'model' }],
  ['that is no word', { agents: { 'odd key': 1 } }, { path: 'agents["odd key"]' }],
  ['that is like nothing', { agents: { zzzzzzzz: 1 } }, { path: 'agents.zzzzzzzz', nearest: undefined }],
])('an unknown key %s is named with its path and the nearest known one', async (_, config, problem) => {
  await using t = await testKernel();
  const rejected = t.apply(scene().all, config as never);
  await expect(rejected).rejects.toMatchObject({ code: 'CONFIG_INVALID', problems: [problem] });
});

test.each<[object, string, string]>([
  [{ gateway: { port: 'x' } }, 'gateway.port', 'must be integer; it is "x"'],
  [{ models: { mode: 'fats' } }, 'models.mode', 'must be one of fast, slow; it is "fats" (did you mean "fast"?)'],
  [{ agents: { list: {} } }, 'agents.list', 'must be array; it is an object'],
  [{ agents: { list: [{ model: 3 }] } }, 'agents.list[0].model', 'must be string or object; it is 3'],
  [{ agents: { list: [{ model: { primry: 'm' } }] } }, 'agents.list[0].model.primry', 'unknown key "primry" (did you mean "primary"?)'],
])('what does not fit its schema is told in one line: %j', async (config, path, message) => {
  await using t = await testKernel();
  await expect(t.apply(scene().all, config as never)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: `${path}: ${message}` });
});

test('all faults of a config are told at once', async () => {
  await using t = await testKernel();
  const rejected = t.apply(scene().all, { gatway: 1, agents: { list: [{ id: 1 }, { id: 2 }] }, ...memoryConfig({ size: 0 }) });
  const paths = ['gatway', 'agents.list[0].id', 'agents.list[1].id', 'plugins.entries.memory.config.size'];
  await expect(rejected).rejects.toMatchObject({ problems: paths.map((path) => ({ path })) });
});

test('above a nested path, only what leads to it is known', async () => {
  await using t = await testKernel();
  await expect(t.apply([scene().chat], { gateway: { htp: {} } })).rejects.toMatchObject({
    problems: [{ path: 'gateway.htp', nearest: 'http' }],
  });
  await t.apply([scene().chat], { gateway: { http: { chat: {} } } });
});

test('of two owners of one path the second is left out, and the first is given its config', async () => {
  const { seen, owner, gateway } = scene();
  await using t = await bootTest([gateway, owner('other', { at: 'gateway', schema: {} })], { gateway: { port: 5 } });
  expect(leftOut(t)).toMatchObject([
    { plugin: 'other', code: 'CONFIG_OWNED_TWICE', why: expect.stringContaining('config path "gateway"') },
  ]);
  expect(seen).toEqual({ gateway: { port: 5, http: { limit: 9 } } });
});

test('a plugin adds keys at a place that another opened; without it they are unknown', async () => {
  const { seen, owner, agents } = scene();
  const extra = owner('extra', { schema: object({}), extends: { 'agents.entry': { thinking: { enum: ['low', 'high'] } } } });
  const config = { agents: { list: [{ id: 'a', thinking: 'low' }] } };
  await using t = await bootTest([agents, extra], config);
  expect(seen['agents']).toEqual(config.agents);
  await expect(t.apply([agents], config)).rejects.toMatchObject({ problems: [{ path: 'agents.list[0].thinking' }] });
  const rejected = t.apply([agents, extra], { agents: { list: [{ thinking: 'hihg' }] } });
  await expect(rejected).rejects.toMatchObject({ problems: [{ path: 'agents.list[0].thinking', nearest: 'high' }] });
});

test('a schema that no validator takes leaves its plugin out', async () => {
  const { owner, memory } = scene();
  await using t = await bootTest([owner('bad', { schema: { type: 'strnig' } }), memory]);
  expect(leftOut(t)).toMatchObject([{ plugin: 'bad', code: 'CONFIG_INVALID' }]);
  expect(t.kernel.inspect().instances).toMatchObject([{ plugin: 'memory' }]);
});

test('a faulty block is left out at boot with its reason, and the plugin runs with the others', async () => {
  const { seen, models } = scene();
  const providers = { good: { url: 'u' }, bad: { ulr: 'u' } };
  await using t = await bootTest([models], { models: { providers } });
  expect(seen['models']).toEqual({ providers: { good: { url: 'u' } } });
  expect(leftOut(t)).toMatchObject([
    { plugin: 'models.providers.bad', code: 'CONFIG_INVALID', why: expect.stringMatching(/"url" is missing.*unknown key "ulr"/) },
  ]);
});

test('a fault in a block that is live rejects the edit, and the generation goes on', async () => {
  const { seen, models } = scene();
  await using t = await bootTest([models], { models: { providers: { p: { url: 'u' } } } });
  await expect(t.apply([models], { models: { providers: { p: { url: 1 } } } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(t.kernel.inspect()).toMatchObject({ generation: 1, leftOut: [] });
  expect(seen['models']).toEqual({ providers: { p: { url: 'u' } } });
});

test('a block that was left out stays so without freezing the rest, and comes in once it is mended', async () => {
  const { seen, models } = scene();
  const edit = (good: string, bad: unknown) => ({ models: { providers: { good: { url: good }, bad } } });
  await using t = await bootTest([models], edit('1', {}));
  await t.apply([models], edit('2', {}));
  expect(seen['models']).toEqual({ providers: { good: { url: '2' } } });
  expect(leftOut(t)).toMatchObject([{ plugin: 'models.providers.bad' }]);
  await t.apply([models], edit('2', { url: 'b' }));
  expect(leftOut(t)).toEqual([]);
  await expect(t.apply([models], edit('2', {}))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

const Memory = service<object>('test.memory');

test.each<[string, { required?: true }, boolean, 'rejected' | 'left out']>([
  ['at boot, of a plugin', {}, false, 'left out'],
  ['at boot, of a required plugin', { required: true }, false, 'rejected'],
  ['in a live edit, of a plugin that is live', {}, true, 'rejected'],
  ['in a live edit, of a required plugin', { required: true }, true, 'rejected'],
])('a fault in the entry %s: %j, %s -> %s', async (_, facts, isLive, outcome) => {
  const { seen, owner, gateway } = scene();
  const memory = owner('memory', { schema: object({ size: { type: 'integer' } }) }, facts);
  await using t = await testKernel();
  if (isLive) await t.apply([memory, gateway]);
  const applied = t.apply([memory, gateway], memoryConfig({ size: 'x' }));
  if (outcome === 'rejected')
    return await expect(applied).rejects.toMatchObject({ code: 'CONFIG_INVALID', problems: [{ plugin: 'memory' }] });
  await applied;
  expect(leftOut(t)).toMatchObject([{ plugin: 'memory', why: 'plugins.entries.memory.config.size: must be integer; it is "x"' }]);
  expect(Object.keys(seen)).toEqual(['gateway']);
});

test('a plugin left out for its entry stays so without freezing the rest; who needs it is told why', async () => {
  const { seen, gateway } = scene();
  const config = { schema: object({ size: { type: 'integer' } }) };
  const memory = plugin('memory', (ctx) => ctx.provide(Memory, {}), { config, provides: [Memory] });
  const user = plugin('user', () => {}, { needs: { memory: Memory } });
  const faulty = memoryConfig({ sizes: 1 });
  await using t = await bootTest([memory, user, gateway], faulty);
  const why = expect.stringContaining(
    'plugin "memory" would provide it, but was left out: plugins.entries.memory.config.sizes: unknown key',
  );
  expect(leftOut(t)).toMatchObject([{ plugin: 'memory' }, { plugin: 'user', why }]);
  await t.apply([memory, user, gateway], { ...faulty, gateway: { port: 2 } });
  expect(seen['gateway']).toMatchObject({ port: 2 });
  expect(leftOut(t)).toMatchObject([{ plugin: 'memory' }, { plugin: 'user' }]);
  await t.apply([memory, user, gateway], memoryConfig({ size: 1 }));
  expect(leftOut(t)).toEqual([]);
});

test('a plugin that has no place in the order keeps its part of the config from being unknown', async () => {
  const { owner, gateway } = scene();
  const A = service<1>('test.a');
  const circle = owner('circle', { at: 'circle', schema: {} }, { needs: { a: A }, provides: [A] });
  await using t = await bootTest([circle, gateway], { circle: { any: 1 } });
  expect(leftOut(t)).toMatchObject([{ plugin: 'circle', code: 'PLUGIN_CYCLE' }]);
});

test('a change of config rebuilds its owner alone; the order of keys is no change', async () => {
  const { all } = scene();
  await using t = await testKernel();
  await t.kernel.apply(of(all, { gateway: { port: 2, http: { chat: { on: true } } }, models: { mode: 'fast' } }));
  const swap = await t.kernel.apply(of(all, { models: { mode: 'fast' }, gateway: { http: { chat: { on: true } }, port: 2 } }));
  expect(built(swap)).toEqual([]);
  const edited = await t.kernel.apply(of(all, { gateway: { port: 2, http: { chat: { on: false } } }, models: { mode: 'fast' } }));
  expect(edited.built).toEqual([{ plugin: 'chat', why: 'its config changed' }]);
  expect(built(await t.kernel.apply(of(all, { gateway: { port: 3 }, models: { mode: 'fast' } })))).toEqual(['gateway']);
});

test('no secret of the config can be read in what the kernel keeps or tells', async () => {
  const { models } = scene();
  await using t = await bootTest([models], { models: { providers: { p: { url: 'u', key: 'sk-hush' } } } });
  const identities = t.kernel.current?.instances.map(({ identity }) => identity);
  expect(identities).toHaveLength(1);
  expect(JSON.stringify([identities, t.kernel.inspect(), t.records])).not.toContain('sk-hush');
});

test.each<[unknown, string]>([
  [{ url: 'u', key: 'sk-hush' }, 'models.providers.p.key: must NOT have fewer than 20 characters; it is another value'],
  [{ url: 'u', key: ['sk-hush'] }, 'models.providers.p.key: must be string; it is a list'],
  [[{ key: 'sk-hush' }], 'models.providers.p: must be object; it is a list'],
])('no secret of the config can be read in its faults: %j', async (p, message) => {
  const provider = object({ url: text, key: { type: 'string', minLength: 20 } });
  const schema = object({ providers: { type: 'object', additionalProperties: provider } });
  await using t = await testKernel();
  const rejected = t.apply([scene().owner('models', { at: 'models', schema })], { models: { providers: { p } } });
  await expect(rejected).rejects.toMatchObject({ code: 'CONFIG_INVALID', message });
});

/** A plugin of phase `config` whose tap is `rewrite`. */
const loader = (rewrite: (config: Candidate['config']) => Candidate['config'], facts: Partial<Plugin> = {}) =>
  plugin('loader', (ctx) => ctx.tap(LoadConfig, rewrite), { phase: 'config', ...facts });

test('a config.load tap rewrites the config before anyone else sees or checks it', async () => {
  const { seen, gateway } = scene();
  const renamed = loader(({ oldGateway, ...rest }) => ({ ...rest, gateway: oldGateway }));
  await using t = await testKernel();
  await t.kernel.apply(of([gateway, renamed], { oldGateway: { port: 9 } }));
  expect(seen['gateway']).toMatchObject({ port: 9 });
  expect(t.kernel.inspect().instances.map((one) => one.plugin)).toEqual(['loader', 'gateway']);
  const again = await t.kernel.apply(of([gateway, renamed], { oldGateway: { port: 10 } }));
  expect(built(again)).toEqual(['gateway']);
});

test('a plugin of phase config is given its own entry from the text, also where the text does not fit the rest', async () => {
  const { seen, owner, gateway } = scene();
  const entries = { entries: { fixed: { config: { port: 4 } } } };
  const fixed = owner('fixed', { schema: object({ port: { type: 'integer' } }) }, { phase: 'config' });
  await using _ = await bootTest([gateway, fixed, loader(({ plugins }) => ({ plugins }))], { plugins: entries, gateway: 'nonsense' });
  expect(seen).toEqual({ fixed: { port: 4 }, gateway: { port: 1, http: { limit: 9 } } });
});

test('which plugins run is final before config.load: a tap that changes plugins.* is an error', async () => {
  const { seen, gateway } = scene();
  await using t = await testKernel();
  const rejected = t.apply([gateway, loader(() => ({ plugins: { paths: ['x'] } }))], { plugins: { paths: [] } });
  await expect(rejected).rejects.toMatchObject({ code: 'CONFIG_PLUGINS_CHANGED' });
  expect(seen).toEqual({});
});

test('a config.load tap that fails rejects the candidate and is named', async () => {
  const { gateway } = scene();
  const failing = loader(() => {
    throw new Error('no vault');
  });
  await using t = await bootTest([gateway]);
  await expect(t.apply([gateway, failing])).rejects.toMatchObject({
    code: 'HOOK_FAILED',
    facts: { plugin: 'loader', hook: 'config.load' },
  });
  expect(t.kernel.inspect().generation).toBe(1);
});

test('a plugin of phase config can need only another one of that phase', async () => {
  const provides = (facts: Partial<Plugin>) => plugin('memory', (ctx) => ctx.provide(Memory, {}), { provides: [Memory], ...facts });
  const needy = loader((config) => config, { needs: { memory: Memory } });
  await using early = await bootTest([needy, provides({ phase: 'config' })]);
  expect(leftOut(early)).toEqual([]);
  await using late = await bootTest([needy, provides({})]);
  expect(leftOut(late)).toMatchObject([{ plugin: 'loader', code: 'SERVICE_UNKNOWN' }]);
});
