import { bail, DecideTool, type EnterRun, FilterPolicy, given, type Run, service, type Subject, type Tool } from '../../../kernel/index.ts';
import { Turn } from '../../turns/contract.ts';

/** The provider's own web search, active for a Subject. */
export interface ProviderSearch {
  readonly why: string;
  /** The config path that says so. */
  readonly path?: string;
  /** What goes into the request, as far as the protocol knows it. */
  readonly settings?: SearchSettings;
}

export interface SearchSettings {
  readonly allowedDomains?: readonly string[];
  readonly contextSize?: 'low' | 'medium' | 'high';
  readonly userLocation?: { readonly country?: string; readonly region?: string; readonly city?: string; readonly timezone?: string };
  /** Only what the provider has stored already. */
  readonly cachedOnly?: boolean;
}

/**
 * Layer 2: whether the model's provider searches the web itself in turns of this Subject. Who answers here turns it on: the
 * request is sent with it, where policy lets the Subject search at all. A pure function of the Subject.
 */
export const NativeSearch = bail<Subject, ProviderSearch>('policy.nativeSearch');

/** In a run that has it, layer 2 lets `web_search` pass. */
export const SearchAnyway = service<true>('policy.searchAnyway');

const standIn: Tool = {
  name: 'web_search',
  description: 'Searches the web, by the provider',
  section: 'Web',
  parameters: { type: 'object' },
  execute: () => ({ content: [] }),
};

/**
 * The provider's search that a request of this run goes out with. What may not search by our tool may not search by the
 * provider's either: every other layer and decider is asked as if it were a call of `web_search`. As of such a call, the generation
 * that is current now is asked too, by `enter`, the `ctx.run` of who asks: its answer stands where both allow.
 */
export async function searchOf(run: Run, enter: EnterRun): Promise<ProviderSearch | undefined> {
  const { subject, signal } = run;
  if (!(await allowedBy(run))) return undefined;
  const turn = run.find(Turn);
  return enter(allowedBy, { subject, signal, values: turn ? [given(Turn, turn)] : [] });
}

async function allowedBy(run: Run): Promise<ProviderSearch | undefined> {
  const native = await run.call(NativeSearch, run.subject);
  if (!native) return undefined;
  const asked = run.as({ values: [given(SearchAnyway, true)] });
  const { tools } = await asked.call(FilterPolicy, { tools: [standIn], removed: [] });
  if (tools.length === 0) return undefined;
  const verdict = await asked.call(DecideTool, { id: 'native-search', tool: standIn, args: {} });
  return verdict?.kind === 'allow' ? native : undefined;
}
