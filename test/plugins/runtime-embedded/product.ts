import { definePlugin, RegisterTools, type Tool } from '../../../kernel/index.ts';
import { Events, type LiveEvent } from '../../../plugins/events/contract.ts';
import { Inbox } from '../../../plugins/inbox/contract.ts';
import { AdapterFor, ModelCatalog, type ModelAdapter } from '../../../plugins/models/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { allowAll, bundledPlugins, fakeChannel, fakeModel, type Script, testKernel } from '../../../plugins/testing/kit.ts';

const doors = [
  'chat',
  'cli',
  'gateway',
  'openai-http',
  'web',
  'watch',
  'model-demo',
  'models-openai',
  'models-pi',
  'plugins-admin',
  'policy',
];
export const key = 'agent:main:main';

export interface Options {
  readonly tools?: readonly Tool[];
  readonly loop?: Readonly<Record<string, unknown>>;
  readonly adapter?: ModelAdapter['complete'];
  readonly plugins?: readonly ReturnType<typeof definePlugin>[];
  /** Bundled plugins that are off beside the doors. */
  readonly off?: readonly string[];
  /** More of the config; fields of `agents.defaults` are added to those here. */
  readonly config?: { readonly agents?: { readonly defaults?: object; readonly list?: readonly object[] }; readonly failover?: object };
}

/** The product without its doors, with a model that says what it is told to, tools of the test, and all that is told of turns. */
export async function product(script: Script, { tools = [], loop = {}, adapter, plugins = [], off = [], config: more = {} }: Options = {}) {
  const channel = fakeChannel();
  const model = fakeModel(script);
  const events: LiveEvent[] = [];
  const own = definePlugin({
    name: 'test-tools',
    description: 'tools of a test',
    setup(ctx) {
      ctx.tap(RegisterTools, (known) => [...known, ...tools]);
      if (!adapter) return;
      const base = {
        api: 'own',
        name: 'own',
        baseUrl: 'own:',
        contextWindow: 200_000,
        maxTokens: 8192,
        input: ['text'],
        reasoning: false,
      } as const;
      ctx.tap(ModelCatalog, (models) => [...models, { ...base, provider: 'own', id: 'own' }]);
      ctx.tap(AdapterFor, (api) => (api === 'own' ? { api, complete: adapter } : undefined));
    },
  });
  const config = {
    ...more,
    agents: { ...more.agents, defaults: { model: adapter ? 'own/own' : 'fake/fake', ...more.agents?.defaults } },
    plugins: { entries: { 'runtime-embedded': { config: loop } } },
  };
  const t = await testKernel({
    plugins: [...(await bundledPlugins([...doors, ...off])), channel, model, own, allowAll, ...plugins],
    config,
  });
  await t.kernel.run((run) => run.get(Events).watch({}, (event) => void events.push(event)));
  return {
    t,
    channel,
    model,
    events,
    stop: () => t.kernel.run((run) => run.get(Inbox).abort(key, 'stop')),
    messages: () => t.kernel.run(async (run) => (await run.get(Sessions).open(key)).entries.map(({ message }) => message)),
    history: () => t.kernel.run(async (run) => (await run.get(Sessions).open(key)).history()),
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  };
}

export const tool = (name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: 'object' },
  execute,
  ...more,
});

export const calling = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name })) });
