import { secretInput } from '../secrets/contract.ts';
import { codexSchema } from './codex-search.ts';

const section = <const P extends object>(description: string, properties: P) =>
  ({ type: 'object', additionalProperties: false, default: {}, description, properties }) as const;
const number = (description: string, usual: number, minimum: number, maximum: number) =>
  ({ type: 'integer', minimum, maximum, default: usual, description }) as const;
const enabled = (tool: string) => ({ type: 'boolean', default: true, description: `false: no ${tool}.` }) as const;

/** `tools.web`. */
export const schema = {
  ...section('Reading and searching the web.', {
    fetch: section('The tool web_fetch.', {
      enabled: enabled('web_fetch'),
      maxChars: number('Characters of a page in one result, where the model asks for no less.', 20_000, 100, 100_000),
      maxResponseBytes: number('Bytes of a page that are read, unpacked.', 2_000_000, 10_000, 10_000_000),
      timeoutSeconds: number('From the first look-up to the last byte.', 30, 1, 300),
      maxRedirects: number('Redirects that are followed; each is judged as an address of its own.', 3, 0, 20),
      readability: { type: 'boolean', default: true, description: 'Keep only the article of a page: no menus, no footers.' },
    }),
    search: {
      ...section('The tool web_search. It is offered once a provider has its key or address.', {
        enabled: enabled('web_search'),
        provider: { type: 'string', minLength: 1, description: 'Which provider searches. Default: the first that has what it needs.' },
        apiKey: { ...secretInput, description: 'Key of `provider` (without one: of brave). Best as ${VARIABLE}.' },
        maxResults: number('Results of one search, where the model asks for no other number.', 5, 1, 10),
        timeoutSeconds: number('How long a search may take.', 20, 1, 120),
        openaiCodex: codexSchema,
      }),
      'x-place': 'tools.web.search',
    },
  }),
  // A fault in one, such as a variable that is not set, leaves the other.
  'x-contained': true,
} as const;
