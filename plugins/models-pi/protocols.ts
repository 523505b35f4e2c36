import type { ProviderStreams } from '@earendil-works/pi-ai';
import type { Api } from '../models/contract.ts';

/** Nothing of pi-ai is loaded before the first request that needs it: an SDK is tens of megabytes. */
export interface Protocol {
  readonly api: Api;
  load(): Promise<Pick<ProviderStreams, 'streamSimple'>>;
  /** The maker's own models with what is peculiar to each, e.g. how its thinking is asked for. */
  readonly maker: string;
  catalog(): Promise<unknown>;
}

export const protocols: readonly Protocol[] = [
  {
    api: 'openai-responses',
    load: () => import('@earendil-works/pi-ai/api/openai-responses'),
    maker: 'openai',
    catalog: async () => (await import('@earendil-works/pi-ai/providers/openai.models')).OPENAI_MODELS,
  },
  {
    api: 'anthropic-messages',
    load: () => import('@earendil-works/pi-ai/api/anthropic-messages'),
    maker: 'anthropic',
    catalog: async () => (await import('@earendil-works/pi-ai/providers/anthropic.models')).ANTHROPIC_MODELS,
  },
  {
    api: 'google-generative-ai',
    load: () => import('@earendil-works/pi-ai/api/google-generative-ai'),
    maker: 'google',
    catalog: async () => (await import('@earendil-works/pi-ai/providers/google.models')).GOOGLE_MODELS,
  },
];

/** Turns our messages into pi-ai's form of a conversation. */
export const loadNormalizer = async () => (await import('@earendil-works/pi-ai/utils/transcript')).normalizeContext;
