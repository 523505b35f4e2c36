import { definePlugin } from '../../kernel/index.ts';
import { SafeFetch } from '../fetch/contract.ts';
import { listAt, searchAnswer, type SearchProvider, SearchProviders, wordsOf } from '../tools-web/contract.ts';

const block = {
  type: 'object',
  additionalProperties: false,
  description: 'A SearXNG server of yours. It must answer in JSON: search.formats in its settings.yml holds json.',
  properties: {
    baseUrl: { type: 'string', pattern: '^https?://', description: 'Where it is, such as http://localhost:8080. Else SEARXNG_BASE_URL.' },
  },
} as const;

const searxng: SearchProvider = {
  id: 'searxng',
  needs: 'baseUrl',
  env: { baseUrl: 'SEARXNG_BASE_URL' },
  async search({ query, freshness, timeoutMs, signal }, settings, run) {
    const url = new URL('search', `${settings.baseUrl?.replace(/\/*$/, '')}/`);
    url.search = new URLSearchParams({ q: query, format: 'json', ...(freshness && { time_range: freshness }) }).toString();
    const headers = { accept: 'application/json' };
    // The owner named this server: it may stand at home.
    const answer = await run
      .get(SafeFetch)
      .fetch({ url: url.href, headers, timeoutMs, signal, owned: [url.hostname], maxRedirects: 0 }, run);
    const cure = 'add json to search.formats in the settings.yml of the server';
    return listAt(searchAnswer('SearXNG', answer, settings, run, cure), 'results').map(
      ({ title, url: at, content, publishedDate: age }) => {
        return {
          title: wordsOf(title),
          url: String(at),
          snippet: wordsOf(content),
          ...(typeof age === 'string' && { age: age.slice(0, 10) }),
        };
      },
    );
  },
};

export default definePlugin({
  name: 'search-searxng',
  description: 'Search provider SearXNG, a server of your own, for web_search',
  config: { schema: { type: 'object', additionalProperties: false }, extends: { 'tools.web.search': { searxng: block } } },
  setup(ctx) {
    ctx.tap(SearchProviders, (providers) => [...providers, searxng], -10);
  },
});
