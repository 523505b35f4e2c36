import type { Api, Model } from './contract.ts';

/** A provider that needs no block in the config: a key in the environment, or a server on this machine, is enough. */
export interface KnownProvider {
  readonly id: string;
  readonly title: string;
  /** Environment variables that may hold its key; none for a local server. */
  readonly keys: readonly string[];
  readonly baseUrl: string;
  readonly api: Api;
  /** The model where none is named. */
  readonly model?: Pick<Model, 'id' | 'contextWindow' | 'maxTokens' | 'input' | 'reasoning' | 'cost'>;
}

type Facts = readonly [contextWindow: number, maxTokens: number];
type Price = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

function sees(id: string, [contextWindow, maxTokens]: Facts, price?: Price): NonNullable<KnownProvider['model']> {
  return { ...reads(id, [contextWindow, maxTokens], price), input: ['text', 'image'] };
}

function reads(id: string, [contextWindow, maxTokens]: Facts, price?: Price): NonNullable<KnownProvider['model']> {
  const facts = { id, contextWindow, maxTokens, input: ['text'], reasoning: true } as const;
  if (!price) return facts;
  const [input, output, cacheRead, cacheWrite] = price;
  return { ...facts, cost: { input, output, cacheRead, cacheWrite } };
}

const at = (id: string, title: string, baseUrl: string, api: Api, keys: readonly string[]): KnownProvider => {
  return { id, title, baseUrl, api, keys };
};

/** In the order in which a key in the environment is taken. Models and prices as the providers list them in November 2026. */
export const hosted: readonly KnownProvider[] = [
  {
    ...at('anthropic', 'Anthropic', 'https://api.anthropic.com', 'anthropic-messages', ['ANTHROPIC_API_KEY']),
    model: sees('claude-sonnet-5-5', [1_000_000, 128_000], [2, 10, 0.1, 2.5]),
  },
  {
    ...at('openai', 'OpenAI', 'https://api.openai.com/v1', 'openai-responses', ['OPENAI_API_KEY']),
    model: sees('gpt-6.2-sol', [272_000, 128_000], [2, 10, 0.1, 2.5]),
  },
  {
    ...at('google', 'Google', 'https://generativelanguage.googleapis.com/v1beta', 'google-generative-ai', [
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
    ]),
    model: sees('gemini-flash-latest', [1_048_576, 65_536], [1.5, 9, 0.15, 0]),
  },
  {
    ...at('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'openai-completions', ['OPENROUTER_API_KEY']),
    model: sees('openrouter/auto', [200_000, 32_000]),
  },
  {
    ...at('groq', 'Groq', 'https://api.groq.com/openai/v1', 'openai-completions', ['GROQ_API_KEY']),
    model: reads('openai/gpt-oss-120b', [131_072, 65_536], [0.15, 0.6, 0.075, 0]),
  },
  {
    ...at('mistral', 'Mistral', 'https://api.mistral.ai/v1', 'openai-completions', ['MISTRAL_API_KEY']),
    model: sees('mistral-large-latest', [262_144, 65_536], [0.7, 2.1, 0.07, 0]),
  },
  {
    ...at('deepseek', 'DeepSeek', 'https://api.deepseek.com', 'openai-completions', ['DEEPSEEK_API_KEY']),
    model: reads('deepseek-v4-pro', [1_000_000, 64_000], [1.32, 3.96, 0.044, 0]),
  },
  {
    ...at('xai', 'xAI', 'https://api.x.ai/v1', 'openai-completions', ['XAI_API_KEY']),
    model: sees('grok-4.7', [500_000, 64_000], [2, 6, 0.5, 0]),
  },
];

const local = (id: string, title: string, port: number) => at(id, title, `http://127.0.0.1:${port}/v1`, 'openai-completions', []);

/** In the order in which they are looked for. */
export const localServers = {
  ollama: local('ollama', 'Ollama', 11434),
  lmstudio: local('lmstudio', 'LM Studio', 1234),
  llamacpp: local('llamacpp', 'llama.cpp', 8080),
  vllm: local('vllm', 'vLLM', 8000),
} as const;

export const known: readonly KnownProvider[] = [...hosted, ...Object.values(localServers)];

/** Any model of a known provider. What it was not listed with is assumed on the small side. */
export function modelOf(provider: KnownProvider, id: string): Model {
  const listed = provider.model?.id === id ? provider.model : undefined;
  const assumed = {
    contextWindow: provider.keys.length > 0 ? 128_000 : 32_768,
    maxTokens: 8192,
    input: ['text'],
    reasoning: false,
  } as const;
  return { ...assumed, ...listed, provider: provider.id, id, name: id, api: provider.api, baseUrl: provider.baseUrl };
}

/** The key of a known provider, from the environment. */
export function envKey(provider: KnownProvider, env: Readonly<Record<string, string | undefined>>) {
  const variable = provider.keys.find((name) => env[name]?.trim());
  return variable === undefined ? undefined : { variable, value: env[variable]?.trim() };
}
