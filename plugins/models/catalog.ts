import { Host, KernelError, nearest, type Run } from '../../kernel/index.ts';
import { configuredModels, type Providers } from './config.ts';
import { ModelCatalog, type Model } from './contract.ts';
import type { LocalServer } from './detect.ts';
import { envKey, hosted, known, modelOf } from './known.ts';

export type Catalog = ReturnType<typeof catalog>;

/** Finds models by `provider/id`: those of the config, of plugins, of a local server, of providers that are known anyway. */
export function catalog(providers: Providers, found: () => LocalServer | undefined) {
  const configured = configuredModels(providers);
  const [first] = configured.values().flatMap((models) => models.values());
  // One object per model: adapters keep what they derive from it.
  const assumed = new Map<string, Model>();

  function ofKnown(provider: string, id: string): Model | undefined {
    const entry = known.find((each) => each.id === provider);
    if (!entry || id === '') return undefined;
    const ref = `${provider}/${id}`;
    let model = assumed.get(ref);
    if (!model) {
      if (assumed.size >= 500) assumed.clear();
      assumed.set(ref, (model = modelOf(entry, id)));
    }
    return model;
  }

  async function list(run: Run): Promise<readonly Model[]> {
    const own = [...configured.values()].flatMap((models) => [...models.values()]);
    const { env } = run.get(Host);
    const keyed = hosted.filter((each) => !configured.has(each.id) && each.model && envKey(each, env));
    const usual = keyed.flatMap((each) => ofKnown(each.id, each.model?.id ?? '') ?? []);
    return [...own, ...usual, ...(found()?.models ?? []), ...(await run.call(ModelCatalog, []))];
  }

  async function resolve(run: Run, ref: string): Promise<Model> {
    const slash = ref.indexOf('/');
    const [provider, id] = slash < 0 ? ['', ref] : [ref.slice(0, slash), ref.slice(slash + 1)];
    const block = configured.get(provider);
    const model = block ? block.get(id) : await elsewhere(run, provider, id);
    return model ?? unknown(run, ref, provider, id);
  }

  async function elsewhere(run: Run, provider: string, id: string): Promise<Model | undefined> {
    if (provider === '') {
      const named = (await list(run)).filter((each) => each.id === id);
      return named.length === 1 ? named[0] : undefined;
    }
    const isIt = (each: Model) => each.provider === provider && each.id === id;
    if (leftOut(run, provider)) return undefined;
    return found()?.models.find(isIt) ?? (await run.call(ModelCatalog, [])).find(isIt) ?? ofKnown(provider, id);
  }

  async function unknown(run: Run, ref: string, provider: string, id: string): Promise<never> {
    const block = configured.get(provider);
    const out = leftOut(run, provider);
    const why = block
      ? `models.providers.${provider}.models lists no "${id}"`
      : out
        ? `the provider's block was left out (${out.why})`
        : provider
          ? `there is no provider "${provider}" in models.providers`
          : 'a model is named as <provider>/<id>';
    const near = nearest(
      ref,
      (await list(run)).map((each) => `${each.provider}/${each.id}`),
    );
    const next = near ? `did you mean "${near}"?` : 'see "instar models" for those there are';
    throw new KernelError('MODEL_UNKNOWN', `no model "${ref}": ${why}; ${next}`);
  }

  return { first, list, resolve, ofKnown };
}

/** Why a provider's block is not part of this generation, if it is not. */
function leftOut(run: Run, provider: string) {
  const paths = [`models.providers.${provider}`, `models.providers[${JSON.stringify(provider)}]`];
  return run
    .get(Host)
    .inspect()
    .leftOut.find(({ plugin }) => paths.includes(plugin));
}
