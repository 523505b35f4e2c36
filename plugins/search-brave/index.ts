import { definePlugin } from '../../kernel/index.ts';
import { SafeFetch } from '../fetch/contract.ts';
import { secretInput, secretOf } from '../secrets/contract.ts';
import { listAt, searchAnswer, type SearchProvider, SearchProviders, wordsOf } from '../tools-web/contract.ts';

const usualUrl = 'https://api.search.brave.com';

const block = {
  type: 'object',
  additionalProperties: false,
  description: 'Brave Search.',
  properties: {
    apiKey: { ...secretInput, description: 'Key of the Brave Search API. Else tools.web.search.apiKey, else BRAVE_API_KEY.' },
    baseUrl: { type: 'string', pattern: '^https?://', description: `Where the API is. Default ${usualUrl}.` },
  },
} as const;

const brave: SearchProvider = {
  id: 'brave',
  needs: 'apiKey',
  env: { apiKey: 'BRAVE_API_KEY' },
  async search({ query, count, freshness, timeoutMs, signal }, settings, run) {
    const { apiKey, baseUrl, keyPath } = settings;
    const url = new URL('/res/v1/web/search', baseUrl ?? usualUrl);
    url.search = new URLSearchParams({ q: query, count: String(count), ...(freshness && { freshness: `p${freshness[0]}` }) }).toString();
    const headers = { accept: 'application/json', 'x-subscription-token': (await secretOf(run, apiKey, keyPath)) ?? '' };
    const owned = baseUrl ? [url.hostname] : [];
    const answer = await run.get(SafeFetch).fetch({ url: url.href, headers, timeoutMs, signal, owned, maxRedirects: 0 }, run);
    return listAt(searchAnswer('Brave', answer, settings, run), 'web', 'results').map(({ title, url: at, description, age }) => {
      return { title: wordsOf(title), url: String(at), snippet: wordsOf(description), ...(typeof age === 'string' && { age }) };
    });
  },
};

export default definePlugin({
  name: 'search-brave',
  description: 'Search provider Brave, for web_search',
  config: { schema: { type: 'object', additionalProperties: false }, extends: { 'tools.web.search': { brave: block } } },
  setup(ctx) {
    ctx.tap(SearchProviders, (providers) => [...providers, brave], -30);
  },
});
