import { type Host, nearest } from '../../kernel/index.ts';
import { isSecretRef, type SecretInput } from '../secrets/contract.ts';
import type { CodexSearch } from './codex-search.ts';
import type { SearchProvider, SearchSettings } from './contract.ts';

export interface SearchConfig {
  readonly enabled: boolean;
  readonly provider?: string;
  readonly apiKey?: SecretInput;
  readonly maxResults: number;
  readonly timeoutSeconds: number;
  readonly openaiCodex?: CodexSearch;
  /** Blocks of providers. */
  readonly [id: string]: unknown;
}

export type Choice = { readonly provider: SearchProvider; readonly settings: SearchSettings } | { readonly why: string };

/** Which provider searches, with its settings; else why none can, and what to do. */
export function chosen(providers: readonly SearchProvider[], config: SearchConfig, env: Host['env']): Choice {
  if (!config.enabled) return { why: 'tools.web.search.enabled is false' };
  const { provider: name } = config;
  const named = providers.find(({ id }) => id === name);
  if (name !== undefined && !named) return { why: unknown(name, providers) };
  const ready = (named ? [named] : providers).map((provider) => ({ provider, settings: settingsOf(provider, config, env) }));
  const found = ready.find(({ provider, settings }) => settings[provider.needs] !== undefined);
  if (found) return found;
  if (named) return { why: `tools.web.search.provider is "${named.id}", but ${lacks(named)}` };
  if (providers.length === 0) return { why: 'no plugin of a search provider is live' };
  return { why: `no search provider is set up; set ${providers.map((one) => `${pathOf(one)} (${variable(one)})`).join(', or ')}` };
}

/** A variable counts only where the config says nothing; with INSTAR_NO_DETECT=1 none is looked for. */
function settingsOf({ id, env: names, needs }: SearchProvider, config: SearchConfig, env: Host['env']): SearchSettings {
  const own = (config[id] ?? {}) as Partial<SearchSettings>;
  const isShared = needs === 'apiKey' && id === (config.provider ?? 'brave');
  const variable = (name: string | undefined) => (name && env['INSTAR_NO_DETECT'] !== '1' ? env[name] || undefined : undefined);
  const shared = isShared ? config.apiKey : undefined;
  const apiKey = given(own.apiKey) ?? given(shared) ?? variable(names.apiKey);
  const baseUrl = own.baseUrl ?? variable(names.baseUrl);
  const keyPath = own.apiKey !== undefined || !isShared ? `tools.web.search.${id}.apiKey` : 'tools.web.search.apiKey';
  return { ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== undefined && { baseUrl }), keyPath };
}

const given = (input: SecretInput | undefined) => (isSecretRef(input) ? input : input || undefined);

const pathOf = ({ id, needs }: SearchProvider) => `tools.web.search.${id}.${needs}`;
const variable = ({ env, needs }: SearchProvider) => env[needs] ?? 'no variable';
const lacks = (provider: SearchProvider) => `neither ${pathOf(provider)} nor ${variable(provider)} is set`;

function unknown(name: string, providers: readonly SearchProvider[]): string {
  const ids = providers.map(({ id }) => id);
  const near = nearest(name, ids);
  const cure = near ? `did you mean "${near}"?` : `there ${ids.length === 1 ? 'is' : 'are'} ${ids.join(', ') || 'none'}`;
  return `tools.web.search.provider is "${name}", which no live plugin brings; ${cure}`;
}
