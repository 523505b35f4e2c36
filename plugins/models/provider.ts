import { Host, nearest, type Run } from '../../kernel/index.ts';
import { AuthProfiles } from '../auth-profiles/contract.ts';
import type { Catalog } from './catalog.ts';
import type { Providers } from './config.ts';
import type { ProviderFacts } from './contract.ts';
import { envKey, hosted, known, type KnownProvider } from './known.ts';
import { whereIs } from './whereabouts.ts';

/** What makes a known provider usable without a block: a key in the environment, else one that was added. Undefined: nothing. */
export function keyedBy(run: Run, provider: KnownProvider): string | undefined {
  const variable = envKey(provider, run.get(Host).env)?.variable;
  if (variable) return `${variable} is set`;
  const standings = run.find(AuthProfiles)?.standing(run, { provider: provider.id, model: provider.model?.id ?? '' }) ?? [];
  const added = standings.find(({ profile, usable, readyAt }) => profile.origin !== 'implicit' && (usable || readyAt !== undefined));
  return added && `auth profile "${added.profile.id}" has a key`;
}

/** For whoever is about to add a key: is there such a provider, and which key of its own does it have. */
export async function providerFacts(run: Run, catalog: Catalog, providers: Providers, provider: string): Promise<ProviderFacts> {
  const brought = (await catalog.list(run)).map((model) => model.provider);
  const ids = [...new Set([...Object.keys(providers), ...known.map(({ id }) => id), ...brought])];
  const isKnown = ids.includes(provider) || catalog.leftOut(run, provider) !== undefined;
  if (!isKnown) return { isKnown, near: nearest(provider, ids), known: hosted.map(({ id }) => id) };
  const entry = hosted.find(({ id }) => id === provider);
  const variable = entry && envKey(entry, run.get(Host).env)?.variable;
  const ownKey = providers[provider]?.apiKey ? whereIs(run, `models.providers.${provider}.apiKey`) : variable;
  return { isKnown, known: [], ...(ownKey && { ownKey }) };
}
