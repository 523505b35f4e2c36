import { type Run, waterfall } from '../../../kernel/index.ts';
import type { SecretInput } from '../../secrets/contract.ts';

/** What a model asks for. */
export interface SearchQuery {
  readonly query: string;
  readonly count: number;
  /** Not older than this. */
  readonly freshness?: 'day' | 'week' | 'month' | 'year';
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  /** Plain text: no tags, no entities. */
  readonly snippet: string;
  /** As the provider says it: `2 days ago`, `2026-11-03`. */
  readonly age?: string;
}

/** The block of a provider in `tools.web.search`, filled up with what stands beside it and in the environment. */
export interface SearchSettings {
  readonly apiKey?: SecretInput;
  readonly baseUrl?: string;
  /** The config path of the key, for messages. */
  readonly keyPath: string;
}

/** One way to search the web. Its config is `tools.web.search.<id>`, added by `extends: { 'tools.web.search': … }`. */
export interface SearchProvider {
  readonly id: string;
  /** The variables that may hold what its block does not say. */
  readonly env: { readonly apiKey?: string; readonly baseUrl?: string };
  readonly needs: 'apiKey' | 'baseUrl';
  /** Throws what `searchAnswer` and SafeFetch throw. */
  search(query: SearchQuery, settings: SearchSettings, run: Run): Promise<readonly SearchHit[]>;
}

/** Where no provider is named, the first one that has what it needs is used. */
export const SearchProviders = waterfall<readonly SearchProvider[]>('web.searchProviders');
