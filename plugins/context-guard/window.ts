import type { Model } from '../models/contract.ts';

/** SPEC 7.6. Tokens. */
const [least, ample] = [16_000, 32_000];

export interface Smallness {
  readonly isTooSmall: boolean;
  /** One line: what, how much, what to do. */
  readonly message: string;
}

/** By the model's whole window, however much of it is used. One that says nothing of its window is let be. */
export function smallness({ provider, id, contextWindow }: Model): Smallness | undefined {
  if (!(contextWindow > 0) || contextWindow >= ample) return undefined;
  const isTooSmall = contextWindow < least;
  const has = `${provider}/${id} has a context window of ${contextWindow} tokens`;
  const wrong = `if that is wrong, set contextWindow of this model in models.providers.${provider}.models`;
  const message = isTooSmall
    ? `${has}, and at least ${least} are needed; choose a larger model, or ${wrong}`
    : `${has}, less than ${ample}: long conversations will be summarised often; ${wrong}`;
  return { isTooSmall, message };
}
