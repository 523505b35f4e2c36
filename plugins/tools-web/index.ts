import { definePlugin, Host, RegisterTools, type Run, type Tool } from '../../kernel/index.ts';
import { SafeFetch } from '../fetch/contract.ts';
import { NativeSearch, ToolAbsences } from '../policy/contract.ts';
import { chosen, type SearchConfig } from './choice.ts';
import { codexSearch } from './codex-search.ts';
import { SearchProviders } from './contract.ts';
import { type FetchConfig, webFetch } from './fetch.ts';
import { openPageReader } from './page.ts';
import { schema } from './schema.ts';
import { webSearch } from './search.ts';

export default definePlugin({
  name: 'tools-web',
  description: 'Tools web_fetch and web_search: pages as Markdown, and searches by the provider that has a key',
  config: { at: 'tools.web', schema },
  needs: { host: Host },
  async setup(ctx) {
    const { fetch, search } = ctx.config as unknown as { readonly fetch?: FetchConfig; readonly search?: SearchConfig };
    const { env } = ctx.needs.host;
    const reader = await ctx.lease('tools-web:reader', openPageReader);
    const fetcher = fetch && webFetch(fetch, reader);

    const offers = async (run: Run): Promise<Readonly<Record<string, Outcome>>> => {
      const guard = run.find(SafeFetch) ? undefined : { why: 'plugin "fetch" is not live, and nothing is fetched without its guard' };
      const fetching = fetcher ? (fetch.enabled ? { tool: fetcher } : { why: 'tools.web.fetch.enabled is false' }) : faulty('fetch');
      const choice = search ? chosen(await run.call(SearchProviders, []), search, env) : faulty('search');
      const searching = 'provider' in choice && search ? { tool: webSearch(choice, search) } : { why: 'why' in choice ? choice.why : '' };
      return { web_fetch: guard ?? fetching, web_search: guard ?? searching };
    };
    ctx.tap(RegisterTools, async (tools, run) => [
      ...tools,
      ...Object.values(await offers(run)).flatMap((one) => ('tool' in one ? one.tool : [])),
    ]);
    ctx.tap(NativeSearch, (subject, run) => codexSearch(search?.openaiCodex, subject, run));
    ctx.tap(ToolAbsences, async (absences, run) => [
      ...absences,
      ...Object.entries(await offers(run)).flatMap(([tool, one]) => ('why' in one ? { tool, why: one.why } : [])),
    ]);
  },
});

/** The tool, or why there is none. */
type Outcome = { readonly tool: Tool } | { readonly why: string };

/** What its block held was told when it was left out. */
const faulty = (block: string) => ({ why: `tools.web.${block} has a fault and was left out; "instar config check" shows it` });
