import type { FromSchema } from 'json-schema-to-ts';
import { secretInput } from '../secrets/contract.ts';
import type { Model } from './contract.ts';

const tokens = { type: 'integer', minimum: 1 } as const;
const price = { type: 'number', minimum: 0, default: 0 } as const;
/** What a block in the config may speak. A plugin with a protocol of its own brings its models by `models.catalog`. */
const api = {
  enum: ['openai-completions', 'openai-responses', 'anthropic-messages', 'google-generative-ai'],
  description: 'The protocol the server speaks',
} as const;
const headers = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Sent with each request; those of a model win over those of its server',
} as const;

const model = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: {
    id: { type: 'string', minLength: 1, description: 'As the server knows it' },
    name: { type: 'string', description: 'As people know it' },
    contextWindow: { ...tokens, default: 128_000, description: 'Tokens that input and answer may have together' },
    maxTokens: { ...tokens, default: 8192, description: 'Tokens an answer may have' },
    input: { type: 'array', items: { enum: ['text', 'image'] }, minItems: 1, default: ['text'], description: 'What it can be shown' },
    reasoning: { type: 'boolean', default: false, description: 'Whether it thinks before it answers' },
    api,
    headers,
    compat: { type: 'object', description: 'Where it differs, e.g. supportsTools: false' },
    cost: {
      type: 'object',
      additionalProperties: false,
      description: 'US dollars per million tokens',
      properties: {
        input: { ...price, description: 'Of what it is sent' },
        output: { ...price, description: 'Of what it answers' },
        cacheRead: { ...price, description: 'Of what the provider had cached' },
        cacheWrite: { ...price, description: 'Of what the provider newly cached' },
      },
    },
  },
} as const;

const provider = {
  type: 'object',
  additionalProperties: false,
  required: ['baseUrl', 'models'],
  properties: {
    baseUrl: { type: 'string', pattern: '^https?://', description: 'Up to what the protocol appends, e.g. https://host/v1' },
    apiKey: { ...secretInput, description: 'Best as ${VARIABLE}, or as { source, provider, id }: see secrets' },
    api: { ...api, default: 'openai-completions' },
    headers,
    nativeSearch: {
      type: 'boolean',
      description: 'The provider searches the web itself, in place of the tool web_search. With openai-responses and anthropic-messages',
    },
    models: { type: 'array', items: model, description: 'Used as <provider>/<id>' },
  },
} as const;

export const modelsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    providers: {
      type: 'object',
      additionalProperties: provider,
      // One faulty block is left out; the others work.
      'x-contained': true,
      description: 'Model servers by name',
    },
  },
} as const;

export type Providers = NonNullable<FromSchema<typeof modelsSchema>['providers']>;

/** The models of the config by provider and id, made once: adapters keep what they derive from a model by its identity. */
export function configuredModels(providers: Providers): ReadonlyMap<string, ReadonlyMap<string, Model>> {
  const byProvider = new Map<string, Map<string, Model>>();
  for (const [name, block] of Object.entries(providers)) {
    const models = block.models.map((entry): Model => {
      const sent = { ...block.headers, ...entry.headers };
      const { baseUrl } = block;
      return { ...entry, provider: name, name: entry.name ?? entry.id, api: entry.api ?? block.api, baseUrl, headers: sent };
    });
    byProvider.set(name, new Map(models.map((each) => [each.id, each])));
  }
  return byProvider;
}
