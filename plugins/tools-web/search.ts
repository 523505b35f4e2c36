import { defineTool, KernelError, type Run, text, type Tool } from '../../kernel/index.ts';
import { shortened, untrusted } from '../prompt/contract.ts';
import type { Choice, SearchConfig } from './choice.ts';
import { type SearchHit, SearchProviders } from './contract.ts';

const caps = { title: 200, url: 500, snippet: 600 };

export const webSearch = ({ provider: { id }, settings }: Extract<Choice, { provider: unknown }>, config: SearchConfig): Tool =>
  defineTool({
    name: 'web_search',
    description: `Search the web (${id}): titles, addresses, snippets. Read a page with web_fetch.`,
    section: 'Web',
    parallel: true,
    parameters: {
      type: 'object',
      required: ['query'],
      additionalProperties: false,
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 400 },
        count: { type: 'integer', minimum: 1, maximum: 10, description: `Results. Default ${config.maxResults}` },
        freshness: { type: 'string', enum: ['day', 'week', 'month', 'year'], description: 'Not older than this' },
      },
    },
    async execute({ query, count = config.maxResults, freshness }, { run, signal }) {
      const provider = await providerOf(id, run);
      const asked = { query, count, ...(freshness && { freshness }), timeoutMs: config.timeoutSeconds * 1000, signal };
      const hits = (await provider.search(asked, settings, run)).filter(({ url }) => URL.canParse(url)).slice(0, count);
      const details = { provider: id, query, hits };
      if (hits.length === 0)
        return {
          ...text(`Nothing was found for ${JSON.stringify(query)}. Try other words${freshness ? ', or without freshness' : ''}.`),
          details,
        };
      return { ...text(untrusted(`web search by ${id}`, hits.map(lineOf).join('\n'))), details };
    },
  });

/** Asked for late: its code may have been replaced since the tool was offered. */
async function providerOf(id: string, run: Run) {
  const provider = (await run.call(SearchProviders, [])).find((one) => one.id === id);
  if (provider) return provider;
  throw new KernelError('SEARCH_FAILED', `the plugin of search provider "${id}" is gone`);
}

function lineOf({ title, url, snippet, age }: SearchHit, index: number): string {
  const head = `${index + 1}. ${short(title, caps.title) || '(no title)'}`;
  return [
    head,
    `   ${short(url, caps.url)}`,
    ...(snippet ? [`   ${age ? `[${short(age, 40)}] ` : ''}${short(snippet, caps.snippet)}`] : []),
  ].join('\n');
}

const short = (words: string, most: number) => shortened(words.replace(/\s+/g, ' ').trim(), most);
