import type { Model } from '../models/contract.ts';

/** Where servers differ that all call themselves OpenAI-compatible. `compat` in a model's config wins over what its host tells. */
export interface Quirks {
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Asks for token counts at the end of a stream. */
  readonly usage: boolean;
  readonly tools: boolean;
  readonly images: boolean;
  readonly effort: boolean;
  /** Thinking must be sent back with the message it belongs to, else the tool round is refused. */
  readonly thinkingBack: boolean;
  /** Tool call ids must be nine letters or digits. */
  readonly shortIds: boolean;
  /** Routes a session's requests to the server that has its prompt cached. */
  readonly cacheKey: boolean;
}

const known = new WeakMap<Model, Quirks>();

export function quirksOf(model: Model): Quirks {
  let quirks = known.get(model);
  if (!quirks) known.set(model, (quirks = detect(model)));
  return quirks;
}

function detect({ baseUrl, compat = {}, input, reasoning }: Model): Quirks {
  const openai = /\/\/api\.openai\.com|\.openai\.azure\.com/.test(baseUrl);
  const flag = (name: string, otherwise: boolean) => (typeof compat[name] === 'boolean' ? compat[name] : otherwise);
  const completion = (compat['maxTokensField'] ?? (openai ? 'max_completion_tokens' : 'max_tokens')) === 'max_completion_tokens';
  return {
    maxTokensField: completion ? 'max_completion_tokens' : 'max_tokens',
    usage: flag('supportsUsageInStreaming', true),
    tools: flag('supportsTools', true),
    images: input.includes('image'),
    effort: reasoning && flag('supportsReasoningEffort', !/api\.x\.ai|moonshot|z\.ai/.test(baseUrl)),
    thinkingBack: flag('requiresReasoningContentOnAssistantMessages', /deepseek\.com|moonshot/.test(baseUrl)),
    shortIds: flag('requiresMistralToolIds', baseUrl.includes('mistral.ai')),
    cacheKey: openai,
  };
}
