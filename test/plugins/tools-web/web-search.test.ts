import { expect, test } from 'vitest';
import fetchPlugin from '../../../plugins/fetch/index.ts';
import { ToolAbsences } from '../../../plugins/policy/contract.ts';
import brave from '../../../plugins/search-brave/index.ts';
import searxng from '../../../plugins/search-searxng/index.ts';
import tavily from '../../../plugins/search-tavily/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import toolsWeb from '../../../plugins/tools-web/index.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';
import { type Asked, type Page, site } from './site.ts';

const plugins = [fetchPlugin, secrets, toolsWeb, brave, tavily, searxng, allowAll];
const boot = (search: object, env: Readonly<Record<string, string>> = { INSTAR_NO_DETECT: '1' }) =>
  toolbench(plugins, { tools: { web: { search } } }, { env });

const json = (body: unknown, status = 200): Page => ({ status, type: 'application/json', body: JSON.stringify(body) });

interface Case {
  readonly provider: string;
  /** Its block in the config. */
  readonly block: (url: string) => object;
  /** In the shape that its documentation gives. */
  readonly answer: unknown;
  readonly asks: (asked: Asked) => unknown;
  readonly expects: unknown;
}

const cases: readonly Case[] = [
  {
    provider: 'brave',
    block: (baseUrl) => ({ apiKey: 'the-key', baseUrl }),
    answer: {
      type: 'search',
      query: { original: 'q' },
      web: {
        type: 'search',
        results: [
          {
            title: 'The &lt;b&gt; tag',
            url: 'https://a.example/1',
            description: '<strong>Bold</strong> words',
            age: '2 days ago',
            language: 'en',
          },
          { title: 'Two', url: 'https://b.example/2', description: 'More' },
        ],
      },
    },
    asks: ({ method, url, headers }) => [
      method,
      url.pathname,
      url.searchParams.get('q'),
      url.searchParams.get('count'),
      url.searchParams.get('freshness'),
      headers['x-subscription-token'],
    ],
    expects: ['GET', '/res/v1/web/search', 'what & why', '2', 'pw', 'the-key'],
  },
  {
    provider: 'tavily',
    block: (baseUrl) => ({ apiKey: 'the-key', baseUrl }),
    answer: {
      query: 'q',
      answer: null,
      images: [],
      results: [
        {
          title: 'The &lt;b&gt; tag',
          url: 'https://a.example/1',
          content: '<strong>Bold</strong> words',
          score: 0.9,
          published_date: '2 days ago',
        },
        { title: 'Two', url: 'https://b.example/2', content: 'More', score: 0.8, raw_content: null },
      ],
      response_time: '1.67',
    },
    asks: ({ method, url, headers, body }) => [method, url.pathname, headers.authorization, JSON.parse(body)],
    expects: ['POST', '/search', 'Bearer the-key', { query: 'what & why', max_results: 2, search_depth: 'basic', time_range: 'week' }],
  },
  {
    provider: 'searxng',
    block: (url) => ({ baseUrl: `${url}/searx/` }),
    answer: {
      query: 'q',
      number_of_results: 0,
      results: [
        {
          url: 'https://a.example/1',
          title: 'The &lt;b&gt; tag',
          content: '<strong>Bold</strong> words',
          engine: 'x',
          publishedDate: '2 days ago',
          score: 1,
        },
        { url: 'https://b.example/2', title: 'Two', content: 'More', engine: 'y', publishedDate: null },
        { url: 'https://c.example/3', title: 'Three', content: 'Over the count' },
      ],
      answers: [],
      suggestions: [],
      unresponsive_engines: [],
    },
    asks: ({ method, url }) => [method, url.pathname, Object.fromEntries(url.searchParams)],
    expects: ['GET', '/searx/search', { q: 'what & why', format: 'json', time_range: 'week' }],
  },
];

test.each(cases)(
  'SPEC 2.1: web_search asks $provider as it is documented, and lists what it answers',
  async ({ provider, block, answer, asks, expects }) => {
    await using web = await site(() => json(answer));
    await using bench = await boot({ provider, [provider]: block(web.url) });
    const said = textOf(await bench.call('web_search', { query: 'what & why', count: 2, freshness: 'week' }));
    expect(web.asked.map(asks)).toEqual([expects]);
    expect(said.split('\n').slice(3, -1)).toEqual([
      '1. The <b> tag',
      '   https://a.example/1',
      '   [2 days ago] Bold words',
      '2. Two',
      '   https://b.example/2',
      '   More',
    ]);
    expect(said).toMatch(new RegExp(`^<<<UNTRUSTED_CONTENT [0-9a-f]{16} from "web search by ${provider}">>>`));
  },
);

const failing: readonly (readonly [what: string, page: Page, said: RegExp])[] = [
  ['a refused key', json({}, 401), /refused the request \(HTTP 401\); the owner must (?:check tools\.web\.search\.\w+\.apiKey|add json)/],
  ['too many searches', json({}, 429), /allows no more searches now \(HTTP 429\)/],
  [
    'an error of the server',
    { status: 500, body: '<h1>Oh</h1>' },
    /answered with HTTP 500: <<<UNTRUSTED_CONTENT \w+ from "\w+">>> Oh <<<END/,
  ],
  ['no JSON', { body: '<html>' }, /what is no JSON/],
];
test.each(cases.flatMap(({ provider, block }) => failing.map(([what, page, said]) => ({ provider, block, what, page, said }))))(
  'SPEC 2.2: $what from $provider is an error that says what to do',
  async ({ provider, block, page, said }) => {
    await using web = await site(() => page);
    await using bench = await boot({ provider, [provider]: block(web.url) });
    const result = await bench.call('web_search', { query: 'q' });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(said)]);
    expect(textOf(result)).not.toContain('the-key');
  },
);

test.each(cases)('an answer of $provider in another shape, or with none, is an empty one', async ({ provider, block }) => {
  for (const shape of [{}, [], null, 'x', { results: 'x', web: { results: [1, null, { title: 'no address' }] } }]) {
    await using web = await site(() => json(shape));
    await using bench = await boot({ provider, [provider]: block(web.url) });
    expect(textOf(await bench.call('web_search', { query: 'q', freshness: 'day' }))).toBe(
      'Nothing was found for "q". Try other words, or without freshness.',
    );
  }
});

const offers: readonly (readonly [what: string, search: object, env: Readonly<Record<string, string>>, outcome: string | RegExp])[] = [
  [
    'nothing is set',
    {},
    {},
    /no search provider is set up; set tools\.web\.search\.brave\.apiKey \(BRAVE_API_KEY\), or .*searxng\.baseUrl \(SEARXNG_BASE_URL\)/,
  ],
  ['a key is set without a provider', { apiKey: 'k' }, {}, 'brave'],
  ['a key is set for a provider', { provider: 'tavily', apiKey: 'k' }, {}, 'tavily'],
  ['the environment has a key', {}, { TAVILY_API_KEY: 'k' }, 'tavily'],
  [
    'the environment has a key and nothing is to be looked for',
    {},
    { TAVILY_API_KEY: 'k', INSTAR_NO_DETECT: '1' },
    /no search provider is set up/,
  ],
  ['the environment has an address', {}, { SEARXNG_BASE_URL: 'http://x:1' }, 'searxng'],
  [
    'a provider is named that has no key',
    { provider: 'brave', searxng: { baseUrl: 'http://x:1' } },
    {},
    /provider is "brave", but neither tools\.web\.search\.brave\.apiKey nor BRAVE_API_KEY is set/,
  ],
  ['a key belongs to another provider', { provider: 'searxng', apiKey: 'k' }, {}, /provider is "searxng", but neither .*baseUrl/],
  ['the provider is misspelt', { provider: 'brve', apiKey: 'k' }, {}, /"brve", which no live plugin brings; did you mean "brave"\?/],
  ['it is switched off', { enabled: false, apiKey: 'k' }, {}, 'tools.web.search.enabled is false'],
  ['a key is a reference', { apiKey: { source: 'env', id: 'X' } }, {}, 'brave'],
];
test.each(offers)('SPEC 2.1: where %s, web_search is offered, or the reason is told', async (_, search, env, outcome) => {
  await using bench = await boot(search, env);
  const { tool, why } = await bench.test.kernel.run(async (run) => ({
    tool: (await run.tools()).tools.find(({ name }) => name === 'web_search'),
    why: (await run.call(ToolAbsences, [])).find((one) => one.tool === 'web_search')?.why,
  }));
  expect(tool === undefined).toBe(why !== undefined);
  expect(why ?? /\((\w+)\)/.exec(tool?.description ?? '')?.[1]).toEqual(
    typeof outcome === 'string' ? outcome : expect.stringMatching(outcome),
  );
});

test('a key that is kept elsewhere is asked for anew once it was refused', async () => {
  await using web = await site(({ headers }) =>
    headers['x-subscription-token'] === 'new' ? json({ web: { results: [{ title: 't', url: 'https://a.example' }] } }) : json({}, 401),
  );
  const env: Record<string, string> = { INSTAR_NO_DETECT: '1', SEARCH: 'old' };
  await using bench = await boot({ brave: { apiKey: { source: 'env', id: 'SEARCH' }, baseUrl: web.url } }, env);
  expect(textOf(await bench.call('web_search', { query: 'q' }))).toContain('refused');
  env['SEARCH'] = 'new';
  expect(textOf(await bench.call('web_search', { query: 'q' }))).toContain('https://a.example');
});

test('without the plugin of a provider the others go on', async () => {
  await using bench = await toolbench([fetchPlugin, toolsWeb, tavily, allowAll], {
    tools: { web: { search: { tavily: { apiKey: 'k' } } } },
  });
  expect((await bench.test.kernel.run((run) => run.tools())).tools.map(({ name }) => name)).toContain('web_search');
});

test('a fault in the block of the search leaves web_fetch, and is told as the reason', async () => {
  await using bench = await boot({ maxResults: 99, apiKey: 'k' });
  const [tools, absences] = await bench.test.kernel.run(
    async (run) => [(await run.tools()).tools.map(({ name }) => name), await run.call(ToolAbsences, [])] as const,
  );
  expect(tools).toEqual(['web_fetch']);
  expect(absences).toEqual([{ tool: 'web_search', why: 'tools.web.search has a fault and was left out; "instar config check" shows it' }]);
  expect(bench.test.kernel.inspect().leftOut).toMatchObject([
    { plugin: 'tools.web.search', why: expect.stringContaining('must be <= 10') },
  ]);
});
