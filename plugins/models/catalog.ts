import { Host, KernelError, nearest, type LeftOut, type Run } from '../../kernel/index.ts';
import { configuredModels, type Providers } from './config.ts';
import { ModelCatalog, type Model } from './contract.ts';
import type { LocalServer } from './detect.ts';
import { hosted, known, modelOf } from './known.ts';
import { keyedBy } from './provider.ts';

export type Catalog = ReturnType<typeof catalog>;

/** Finds models by `provider/id`: those of the config, of plugins, of a local server, of providers that are known anyway. */
export function catalog(providers: Providers, found: () => LocalServer | undefined) {
  const configured = configuredModels(providers);
  const [first] = configured.values().flatMap((models) => models.values());
  // One object per model: adapters keep what they derive from it.
  const assumed = new Map<string, Model>();
  let out: readonly LeftOut[] | undefined;

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

  /** Why a provider's block is not part of this generation. Its config is what this instance was made of: it stays so. */
  function leftOut(run: Run, provider: string): LeftOut | undefined {
    out ??= run.get(Host).inspect().leftOut;
    const paths = [`models.providers.${provider}`, `models.providers[${JSON.stringify(provider)}]`];
    return out.find(({ plugin }) => paths.includes(plugin));
  }

  async function list(run: Run): Promise<readonly Model[]> {
    const own = [...configured.values()].flatMap((models) => [...models.values()]);
    const keyed = hosted.filter((each) => !configured.has(each.id) && each.model && keyedBy(run, each));
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
    const brought = found()?.models.find(isIt) ?? (await run.call(ModelCatalog, [])).find(isIt);
    // A faulty block must not end in another server of the same name.
    return brought ?? (leftOut(run, provider) ? undefined : ofKnown(provider, id));
  }

  async function unknown(run: Run, ref: string, provider: string, id: string): Promise<never> {
    const listed = (await list(run)).map((each) => `${each.provider}/${each.id}`);
    const near = nearest(ref, listed);
    const next = near ? `did you mean "${near}"?` : `models here: ${listed.slice(0, 5).join(', ') || 'none'}`;
    throw new KernelError('MODEL_UNKNOWN', `no model "${ref}": ${reason(run, provider, id)}; ${next}`);
  }

  function reason(run: Run, provider: string, id: string): string {
    if (provider === '') return 'a model is named as <provider>/<id>';
    if (configured.has(provider)) return `models.providers.${provider}.models lists no "${id}"`;
    const faulty = leftOut(run, provider);
    if (faulty) return `the provider's block was left out (${faulty.why})`;
    return `there is no provider "${provider}" in models.providers`;
  }

  return { first, list, resolve, ofKnown, leftOut };
}
