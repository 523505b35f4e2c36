import type { Run, Subject } from '../../kernel/index.ts';
import { Models } from '../models/contract.ts';
import type { ProviderSearch, SearchSettings } from '../policy/contract.ts';

/** `tools.web.search.openaiCodex`, as existing configs have it. */
export interface CodexSearch extends Omit<SearchSettings, 'cachedOnly'> {
  readonly enabled?: boolean;
  readonly mode?: 'cached' | 'live';
}

const strings = (description: string) => ({ type: 'array', items: { type: 'string', minLength: 1 }, description }) as const;
const string = (description: string) => ({ type: 'string', minLength: 1, description }) as const;

export const codexSchema = {
  type: 'object',
  additionalProperties: false,
  description:
    'The web search of OpenAI Codex itself, for models of the provider `openai-codex`. Other providers: models.providers.<id>.nativeSearch',
  properties: {
    enabled: { type: 'boolean', description: 'true: the provider searches, and web_search goes.' },
    mode: { enum: ['cached', 'live'], description: 'Only what the provider has stored, or the web as it is. Default: cached.' },
    allowedDomains: strings('Only these domains.'),
    contextSize: { enum: ['low', 'medium', 'high'], description: 'How much of what it finds the model gets.' },
    userLocation: {
      type: 'object',
      additionalProperties: false,
      description: 'Where the user is, roughly',
      properties: {
        country: string('Two letters, such as DE.'),
        region: string('Region or state.'),
        city: string('City.'),
        timezone: string('Such as Europe/Berlin.'),
      },
    },
  },
} as const;

const path = 'tools.web.search.openaiCodex.enabled';

/** SPEC 3.2: Codex's own search, where it is switched on and its models are asked in a protocol that has it. */
export async function codexSearch(config: CodexSearch | undefined, subject: Subject, run: Run): Promise<ProviderSearch | undefined> {
  if (!config?.enabled || subject.provider !== 'openai-codex' || subject.model === undefined) return undefined;
  const model = await run
    .find(Models)
    ?.resolve(run, `${subject.provider}/${subject.model}`)
    .catch(() => undefined); // who asks it says so
  if (model?.api !== 'openai-responses' || model.compat?.supportsTools === false) return undefined;
  const { enabled: _, mode = 'cached', ...settings } = config;
  return { why: 'OpenAI Codex searches the web itself', path, settings: { ...settings, cachedOnly: mode === 'cached' } };
}
