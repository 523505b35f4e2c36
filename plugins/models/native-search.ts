import type { Subject } from '../../kernel/index.ts';
import type { ProviderSearch } from '../policy/contract.ts';
import type { Providers } from './config.ts';

/** Protocols in which the provider's own web search can be asked for here. */
const searching = ['openai-responses', 'anthropic-messages'];

type Block = Providers[string];
const apisOf = ({ api, models }: Block) => models.map((model) => model.api ?? api);

/** SPEC 3.2: where the config of the model's provider says that it searches, it does. */
export function nativeSearchIn(providers: Providers) {
  return ({ provider = '', model }: Subject): ProviderSearch | undefined => {
    const block = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    const entry = block?.models.find(({ id }) => id === model);
    if (!block?.nativeSearch || !entry || entry.compat?.['supportsTools'] === false) return undefined;
    if (!searching.includes(entry.api ?? block.api)) return undefined;
    return { why: `provider "${provider}" searches the web itself`, path: `models.providers.${provider}.nativeSearch` };
  };
}

/** A key that would do nothing is a fault: who sets it counts on it. */
export function searchFaults(providers: Providers = {}): readonly { readonly path: string; readonly message: string }[] {
  return Object.entries(providers).flatMap(([name, block]) => {
    if (!block.nativeSearch || !Array.isArray(block.models) || apisOf(block).some((api) => searching.includes(api))) return [];
    const message = `no model of it speaks ${searching.join(' or ')}, and only there a provider's own web search can be asked for; take it out`;
    return [{ path: `models.providers.${name}.nativeSearch`, message }];
  });
}
