import { definePlugin, Host, messageOf, StartReport, type Leasable } from '../../kernel/index.ts';
import { Agents, UsualFields, usualIn } from '../agents/contract.ts';
import { NativeSearch } from '../policy/contract.ts';
import { agentFields } from './agent-fields.ts';
import { catalog } from './catalog.ts';
import { choiceOf, isSettled } from './choice.ts';
import { completeOnce, type Keys } from './completion.ts';
import { modelsSchema, type Providers } from './config.ts';
import { AskModel, Models } from './contract.ts';
import { nativeSearchIn, searchFaults } from './native-search.ts';
import { providerFacts } from './provider.ts';
import { detectLocal, type LocalServer } from './detect.ts';

/** What must be one across reloads. */
interface Shared extends Leasable {
  readonly keys: Keys;
  found: LocalServer | undefined;
  /** Of the newest instance: each looks once if it must, after the swap or when a turn needs it. */
  looking: Promise<void> | undefined;
}

const shared = (): Shared => ({
  keys: { table: new Map() },
  found: undefined,
  looking: undefined,
  resume() {},
  async [Symbol.asyncDispose]() {},
});

export default definePlugin({
  name: 'models',
  description: 'Which models there are, which one answers, and asking it',
  config: {
    at: 'models',
    schema: modelsSchema,
    faults: (value) => searchFaults((value as { readonly providers?: Providers }).providers),
    extends: { 'agents.entry': agentFields, 'agents.defaults': agentFields },
  },
  needs: { host: Host },
  provides: [Models],
  async setup(ctx) {
    const { host } = ctx.needs;
    const { providers = {} } = ctx.config;
    const state = await ctx.lease('models', shared);
    const models = catalog(providers, () => state.found);
    const keys = new Map(Object.entries(providers).map(([name, { apiKey }]) => [name, apiKey]));
    const newest = { keys: state.keys, enter: ctx.run };
    const mayLook = host.env['INSTAR_NO_DETECT'] !== '1';
    const look = () =>
      (state.looking ??= detectLocal(ctx.signal).then((server) => {
        state.found ??= server;
      }));
    const found = async () => {
      if (mayLook) await look();
      return state.found;
    };

    ctx.provide(Models, {
      list: models.list,
      resolve: models.resolve,
      choose: (run, agentId, asked) => choiceOf(run, { catalog: models, found }, agentId, asked),
      provider: (run, provider) => providerFacts(run, models, providers, provider),
      complete: (run, request, on) => completeOnce(run, newest, request, on),
    });
    // The last resort: one attempt with the provider's own key.
    ctx.tap(AskModel, ({ request, on }, run) => completeOnce(run, newest, request, on), 100);
    ctx.tap(UsualFields, (fields) => ({ ...usualIn(agentFields), ...fields }));
    ctx.tap(NativeSearch, nativeSearchIn(providers));
    ctx.tap(StartReport, async (lines, run) => {
      const chosen = choiceOf(run, { catalog: models, found }, run.find(Agents)?.defaultId ?? 'main', undefined);
      const value = await chosen.then(({ model, why, brief = why }) => `${model.provider}/${model.id} (${brief})`, messageOf);
      return [...lines, { label: 'model', value }];
    });
    ctx.onLive(async () => {
      // At the swap and not before: a candidate that is dropped has no say in the keys of those that run.
      state.keys.table = keys;
      if (!state.found) state.looking = undefined;
      if (mayLook && !(await ctx.run((run) => isSettled(run, models)))) await look();
    });
  },
});
