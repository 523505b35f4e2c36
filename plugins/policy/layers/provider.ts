import type { Layer } from '../rules.ts';

/** SPEC 3.2: two searches at once confuse a model. */
export const provider: Layer = {
  id: 'provider',
  stage: 20,
  judge({ name }, { native }) {
    if (name !== 'web_search' || !native) return undefined;
    return { layer: 'provider', why: native.why, rule: 'native web search', ...(native.path !== undefined && { path: native.path }) };
  },
};
