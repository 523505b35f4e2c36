import { definePlugin } from '../../kernel/index.ts';
import { SafeFetch } from '../fetch/contract.ts';
import { secretInput, secretOf } from '../secrets/contract.ts';
import { listAt, searchAnswer, type SearchProvider, SearchProviders, wordsOf } from '../tools-web/contract.ts';

const usualUrl = 'https://api.tavily.com';

const block = {
  type: 'object',
  additionalProperties: false,
  description: 'Tavily.',
  properties: {
    apiKey: {
      ...secretInput,
      description: 'Key of the Tavily API. Else tools.web.search.apiKey with provider "tavily", else TAVILY_API_KEY.',
    },
    baseUrl: { type: 'string', pattern: '^https?://', description: `Where the API is. Default ${usualUrl}.` },
  },
} as const;

const tavily: SearchProvider = {
  id: 'tavily',
  needs: 'apiKey',
  env: { apiKey: 'TAVILY_API_KEY' },
  async search({ query, count, freshness, timeoutMs, signal }, settings, run) {
    const { apiKey, baseUrl, keyPath } = settings;
    const url = new URL('/search', baseUrl ?? usualUrl);
    const headers = { authorization: `Bearer ${await secretOf(run, apiKey, keyPath)}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, max_results: count, search_depth: 'basic', ...(freshness && { time_range: freshness }) });
    const owned = baseUrl ? [url.hostname] : [];
    const answer = await run
      .get(SafeFetch)
      .fetch({ url: url.href, method: 'POST', headers, body, timeoutMs, signal, owned, maxRedirects: 0 }, run);
    return listAt(searchAnswer('Tavily', answer, settings, run), 'results').map(({ title, url: at, content, published_date: age }) => {
      return { title: wordsOf(title), url: String(at), snippet: wordsOf(content), ...(typeof age === 'string' && { age }) };
    });
  },
};

export default definePlugin({
  name: 'search-tavily',
  description: 'Search provider Tavily, for web_search',
  config: { schema: { type: 'object', additionalProperties: false }, extends: { 'tools.web.search': { tavily: block } } },
  setup(ctx) {
    ctx.tap(SearchProviders, (providers) => [...providers, tavily], -20);
  },
});
