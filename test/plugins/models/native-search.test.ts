import { expect, test } from 'vitest';
import type { Subject } from '../../../kernel/index.ts';
import { Methods } from '../../../plugins/gateway/contract.ts';
import { searchFaults } from '../../../plugins/models/native-search.ts';
import type { Explanation } from '../../../plugins/policy/contract.ts';
import { bundledPlugins } from '../../../plugins/testing/bundled.ts';
import { fakeChannel } from '../../../plugins/testing/fake-channel.ts';
import { bootTest } from '../../support/kernel.ts';
import { startMock } from '../../support/mock-model.ts';
import { type StrictRequest, strictServer } from '../../support/strict-server.ts';
import { askIn, block, tools, user } from './asking.ts';

const others = ['gateway', 'web', 'openai-http', 'chat', 'drill'];
const ours: Readonly<Record<string, object>> = {
  'openai-responses': { type: 'web_search' },
  'anthropic-messages': { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
};
const searchTools = (body: Readonly<Record<string, unknown>> | undefined) =>
  ((body?.['tools'] ?? []) as readonly { readonly type?: string; readonly name?: string }[]).filter(
    ({ type, name }) => name === 'web_search' || type?.startsWith('web_search'),
  );

async function boot(url: string, { config = {}, search = {}, provider = {}, name = 'p', api = 'openai-responses' } = {}) {
  const channel = fakeChannel();
  const kernel = await bootTest([...(await bundledPlugins(others)), channel], {
    agents: { defaults: { model: `${name}/m` } },
    models: { providers: { [name]: { ...block(api, url), ...provider } } },
    ...config,
    tools: { web: { search: { brave: { apiKey: 'x' }, ...search } }, ...(config as { readonly tools?: object }).tools },
  });
  return { kernel, channel, [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose]() };
}

test.each(Object.keys(ours))(
  'SPEC 3.2: where %s searches itself, web_search goes and the request turns its search on',
  { timeout: 60_000 },
  async (api) => {
    await using mock = await startMock();
    await using at = await boot(mock.url, { api, provider: { nativeSearch: true } });
    await at.channel.ask('hello');
    expect(searchTools(mock.bodies().at(-1))).toEqual([ours[api]]);
    const told = await at.kernel.kernel.run(
      async (run) => (await run.call(Methods, {}))['policy.explain']?.({}, {} as never, run) as Promise<Explanation>,
    );
    expect(told.tools.find(({ tool }) => tool === 'web_search')).toMatchObject({
      state: 'removed',
      layer: 'provider',
      why: 'provider "p" searches the web itself',
      path: 'models.providers.p.nativeSearch',
    });
  },
);

test('SPEC 3.2: without the key our own web_search is offered, and the request asks for no other', { timeout: 60_000 }, async () => {
  await using mock = await startMock();
  await using at = await boot(mock.url);
  await at.channel.ask('hello');
  expect(searchTools(mock.bodies().at(-1))).toEqual([expect.objectContaining({ type: 'function', name: 'web_search' })]);
});

const denied: readonly (readonly [what: string, config: object, subject: Subject])[] = [
  ['tools.deny', { tools: { deny: ['web_search'] } }, {}],
  ['a profile', { tools: { profile: 'messaging' } }, {}],
  [
    'a group',
    { channels: { fake: { groups: { g: { tools: { deny: ['group:web'] } } } } } },
    { group: 'g', session: 'group', channel: 'fake' },
  ],
];
test.each(denied)(
  'S10: what may not search by %s does not search by the provider either',
  { timeout: 60_000 },
  async (_, config, subject) => {
    await using mock = await startMock();
    await using at = await boot(mock.url, { provider: { nativeSearch: true }, config });
    await at.channel.ask('hello', { subject: { sender: 'owner', session: 'main', ...subject } });
    expect(searchTools(mock.bodies().at(-1))).toEqual([]);
  },
);

const forbidden: readonly (readonly [what: string, provider: object, config: object])[] = [
  ['denies web_search', { nativeSearch: true }, { tools: { deny: ['web_search'] } }],
  ['takes the provider’s search out', {}, {}],
];
test.each(forbidden)(
  'S6: an owner who %s is obeyed within a turn that runs: its next request does not search',
  { timeout: 60_000 },
  async (_, provider, config) => {
    await using mock = await startMock();
    const bundled = await bundledPlugins(others);
    const configOf = (more: object, rest: object) => ({
      models: { providers: { p: { ...block('openai-responses', mock.url), ...more } } },
      ...rest,
    });
    await using at = await bootTest(bundled, configOf({ nativeSearch: true }, {}));
    const subject = { agent: 'main', sender: 'owner', session: 'main' } as const;
    await at.kernel.run(
      async (run) => {
        await askIn(run, 'p/m', { messages: [user('hello')], search: {} });
        expect(searchTools(mock.bodies().at(-1))).toEqual([ours['openai-responses']]);
        await at.apply(bundled, configOf(provider, config));
        await askIn(run, 'p/m', { messages: [user('and?')], search: {} });
        expect(mock.bodies()).toHaveLength(2);
        expect(searchTools(mock.bodies().at(-1))).toEqual([]);
        await at.apply(bundled, configOf({ nativeSearch: true }, {}));
        await askIn(run, 'p/m', { messages: [user('now?')], search: {} });
        expect(searchTools(mock.bodies().at(-1))).toEqual([ours['openai-responses']]);
      },
      { subject },
    );
  },
);

test('S6: what a run may not search by, it does not search by when a newer config allows it', { timeout: 60_000 }, async () => {
  await using mock = await startMock();
  const bundled = await bundledPlugins(others);
  const models = { providers: { p: { ...block('openai-responses', mock.url), nativeSearch: true } } };
  await using at = await bootTest(bundled, { models, tools: { deny: ['web_search'] } });
  await at.kernel.run(
    async (run) => {
      await at.apply(bundled, { models });
      await askIn(run, 'p/m', { messages: [user('hello')], search: {} });
      expect(searchTools(mock.bodies().at(-1))).toEqual([]);
    },
    { subject: { agent: 'main', sender: 'owner', session: 'main' } },
  );
});

test('only turns search: what is asked for a summary or a probe does not, and without policy nothing does', async () => {
  await using mock = await startMock();
  const bundled = await bundledPlugins([...others, 'policy']);
  const config = { models: { providers: { p: { ...block('openai-responses', mock.url), nativeSearch: true } } } };
  await using bare = await bootTest(bundled, config);
  await bare.kernel.run((run) => askIn(run, 'p/m', { messages: [user('hello')], search: {} }));
  expect(searchTools(mock.bodies().at(-1))).toEqual([]);
  await using at = await boot(mock.url, { provider: { nativeSearch: true } });
  const subject = { agent: 'main', sender: 'owner', session: 'main' } as const;
  await at.kernel.kernel.run((run) => askIn(run, 'p/m', { messages: [user('hello')] }), { subject });
  expect(searchTools(mock.bodies().at(-1))).toEqual([]);
  await at.kernel.kernel.run((run) => askIn(run, 'p/m', { messages: [user('hello')], search: {} }), { subject });
  expect(searchTools(mock.bodies().at(-1))).toEqual([ours['openai-responses']]);
});

test('SPEC 3.2: Codex searches where its key in tools.web.search says so, with the settings beside it', { timeout: 60_000 }, async () => {
  await using mock = await startMock();
  const openaiCodex = { enabled: true, mode: 'live', allowedDomains: ['a.example'], contextSize: 'low', userLocation: { country: 'DE' } };
  await using at = await boot(mock.url, { name: 'openai-codex', search: { openaiCodex } });
  await at.channel.ask('hello');
  expect(searchTools(mock.bodies().at(-1))).toEqual([
    {
      type: 'web_search',
      external_web_access: true,
      filters: { allowed_domains: ['a.example'] },
      search_context_size: 'low',
      user_location: { type: 'approximate', country: 'DE' },
    },
  ]);
  const { kernel } = at.kernel;
  const offer = await kernel.run((run) => run.tools(), {
    subject: { agent: 'main', sender: 'owner', provider: 'openai-codex', model: 'm' },
  });
  expect(offer.removed).toContainEqual(expect.objectContaining({ tool: 'web_search', path: 'tools.web.search.openaiCodex.enabled' }));
  const elsewhere = await kernel.run((run) => run.tools(), { subject: { agent: 'main', sender: 'owner', provider: 'other', model: 'm' } });
  expect(elsewhere.tools.map(({ name }) => name)).toContain('web_search');
});

test('the key is refused where no model of the provider can be asked to search', async () => {
  const faults = (apis: readonly string[], api = 'openai-completions') =>
    searchFaults({
      p: { ...block(api, 'http://x'), nativeSearch: true, models: apis.map((one) => ({ id: one, ...(one && { api: one }) })) },
    } as never);
  expect(faults([''])).toEqual([
    {
      path: 'models.providers.p.nativeSearch',
      message: expect.stringMatching(/no model of it speaks openai-responses or anthropic-messages.*take it out/),
    },
  ]);
  expect(faults(['openai-responses', 'google-generative-ai'])).toEqual([]);
  await expect(boot('http://127.0.0.1:9', { api: 'google-generative-ai', provider: { nativeSearch: true } })).rejects.toThrow(
    /models\.providers\.p\.nativeSearch/,
  );
});

/** As OpenAI streams a reply that thought, searched, and said. */
function searched(_: StrictRequest, response: Parameters<Parameters<typeof strictServer>[0]>[1]) {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc' };
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } };
  const content = [{ type: 'output_text', text: 'found', annotations: [] }];
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const whole = {
    id: 'resp_1',
    status: 'completed',
    output: [reasoning, search, message],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  const events = [
    { type: 'response.created', response: { ...whole, output: [] } },
    ...[reasoning, search, message].flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: whole },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

test('after a search by OpenAI the conversation goes on in a form that it takes', async () => {
  await using server = await strictServer(searched);
  await using at = await boot(server.url, { provider: { nativeSearch: true, models: [{ id: 'm', reasoning: true }] } });
  await at.kernel.kernel.run(
    async (run) => {
      const first = await askIn(run, 'p/m', { messages: [user('hello')], search: {}, tools });
      expect([first.failure, first.text]).toEqual([undefined, 'found']);
      const second = await askIn(run, 'p/m', { messages: [user('hello'), first.message, user('and?')], search: {}, tools });
      expect(second.failure).toBeUndefined();
    },
    { subject: { agent: 'main', sender: 'owner', session: 'main' } },
  );
  expect(server.requests.map(({ faults }) => faults)).toEqual([[], []]);
  const sent = JSON.stringify(server.requests[1]?.body['input']);
  expect(sent).toContain('found');
  expect(sent).not.toContain('rs_1'); // its search, which must follow it, is in no transcript
});
