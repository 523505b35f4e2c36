export { listAt, searchAnswer, wordsOf } from './contract/answer.ts';
export { type SearchHit, type SearchProvider, SearchProviders, type SearchQuery, type SearchSettings } from './contract/provider.ts';
