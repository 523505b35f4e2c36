import type { AssistantPart } from '../sessions/contract.ts';
import type { Api, ModelRequest } from '../models/contract.ts';

type Settings = NonNullable<ModelRequest['search']>;
type Payload = { readonly tools?: readonly { readonly name?: string }[] };

/** Searches in one reply: a server that never comes to an end is paid by the search. */
const mostSearches = 5;

/** The provider's own web search among the tools of a request (SPEC 3.2), unless a tool of that name is there already. */
export const withSearch =
  (api: Api, settings: Settings) =>
  (payload: unknown): unknown => {
    const { tools = [], ...rest } = payload as Payload;
    if (tools.some(({ name }) => name === 'web_search')) return payload;
    return { ...rest, tools: [...tools, api === 'anthropic-messages' ? ofAnthropic(settings) : ofResponses(settings)] };
  };

function ofResponses({ allowedDomains, contextSize, userLocation, cachedOnly }: Settings) {
  return {
    type: 'web_search',
    ...(cachedOnly !== undefined && { external_web_access: !cachedOnly }),
    ...(allowedDomains?.length && { filters: { allowed_domains: allowedDomains } }),
    ...(contextSize && { search_context_size: contextSize }),
    ...(userLocation && { user_location: { type: 'approximate', ...userLocation } }),
  };
}

const ofAnthropic = ({ allowedDomains, userLocation }: Settings) => ({
  type: 'web_search_20250305',
  name: 'web_search',
  max_uses: mostSearches,
  ...(allowedDomains?.length && { allowed_domains: allowedDomains }),
  ...(userLocation && { user_location: { type: 'approximate', ...userLocation } }),
});

export interface Searched {
  searches?: number;
}

/** Counts the provider's searches in the stream of a reply. */
export const searchesSeen = (seen: Searched) => (event: unknown) => {
  const { type, item } = event as { readonly type?: string; readonly item?: { readonly type?: string } };
  if (type === 'response.output_item.done' && item?.type === 'web_search_call') seen.searches = (seen.searches ?? 0) + 1;
};

/**
 * A search is an item of OpenAI's that no transcript here holds. The thinking that led to it cannot be sent back without it: the
 * reply loses what ties it together, and goes back as one of another model.
 */
export function untied(parts: readonly AssistantPart[], { searches = 0 }: Searched): readonly AssistantPart[] {
  if (searches === 0) return parts;
  return parts.map((part) => {
    if (part.type !== 'thinking') return part;
    const { thinkingSignature: _, ...rest } = part;
    return rest;
  });
}
