import { defineTool, isCoded, text, type Tool, type ToolCall, type ToolResult } from '../../kernel/index.ts';
import { type Fetched, SafeFetch } from '../fetch/contract.ts';
import { neutral, shortened, untrusted } from '../prompt/contract.ts';
import { Turn } from '../turns/contract.ts';
import { bareWords } from './bare-words.ts';
import { indented } from './indented.ts';
import type { PageReader } from './page.ts';

export interface FetchConfig {
  readonly enabled: boolean;
  readonly maxChars: number;
  readonly maxResponseBytes: number;
  readonly timeoutSeconds: number;
  readonly maxRedirects: number;
  readonly readability: boolean;
}

const accept = 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5';
const maxImageBytes = 5_000_000;
const errorChars = 2000;

export const webFetch = (config: FetchConfig, reader: PageReader): Tool =>
  defineTool({
    name: 'web_fetch',
    description: 'Fetch a web page as readable Markdown; also text, JSON and images. Public http(s) addresses only.',
    section: 'Web',
    parallel: true,
    parameters: {
      type: 'object',
      required: ['url'],
      additionalProperties: false,
      properties: {
        url: { type: 'string', minLength: 1, maxLength: 4000 },
        extractMode: { type: 'string', enum: ['markdown', 'text'], default: 'markdown' },
        offset: { type: 'integer', minimum: 0, description: 'First character, to read on in a long page' },
        maxChars: { type: 'integer', minimum: 100, maximum: 100_000, description: `Default ${config.maxChars}` },
      },
    },
    async execute({ url, extractMode: mode, offset = 0, maxChars = config.maxChars }, call) {
      const fetched = await call.run.get(SafeFetch).fetch(
        {
          url,
          headers: { accept },
          // Of a picture all is needed or nothing.
          maxBytes: Math.max(config.maxResponseBytes, maxImageBytes),
          timeoutMs: config.timeoutSeconds * 1000,
          maxRedirects: config.maxRedirects,
          signal: call.signal,
        },
        call.run,
      );
      if (/^image\/(?:png|jpeg|gif|webp)$/.test(fetched.type) && fetched.status < 400) return image(fetched, call);
      const page = await textOf(fetched, { mode, article: config.readability, most: config.maxResponseBytes, reader }, call.signal);
      if (page === undefined) {
        const { type, body } = fetched;
        return {
          ...text(`${headOf(fetched)}\n[${nameOf(type) || 'content of no named type'}, ${body.length} bytes: it cannot be shown as text]`),
          isError: true,
        };
      }
      const failed = fetched.status >= 400;
      return {
        ...shown(fetched, page, offset, Math.min(maxChars, config.maxChars, failed ? errorChars : Infinity)),
        ...(failed && { isError: true }),
      };
    },
  });

interface Page {
  readonly title: string;
  readonly text: string;
  /** Not all of the answer was read. */
  readonly cut: boolean;
}

interface Reading {
  readonly mode: 'markdown' | 'text';
  readonly article: boolean;
  readonly most: number;
  readonly reader: PageReader;
}

async function textOf(fetched: Fetched, { mode, article, most, reader }: Reading, signal: AbortSignal): Promise<Page | undefined> {
  const { type, url, body } = fetched;
  const raw = fetched.text().slice(0, most);
  const cut = fetched.truncated || body.length > most;
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(type) || (type === '' && /^\s*<(?:!doctype html|html)/i.test(raw))) {
    const made = await reader.read({ html: raw, url, mode, article }, signal).catch((cause: unknown) => {
      if (!isCoded(cause) || cause.code !== 'FETCH_TYPE') throw cause;
      return { title: '', ...bareWords(raw) };
    });
    return { ...made, cut: cut || ('cut' in made && made.cut) };
  }
  if (/[/+]json$/.test(type)) return { title: '', text: indented(raw), cut };
  const isText = /^text\/|[/+](?:xml|yaml|javascript|x-ndjson|toml)$/.test(type) || (type === '' && !body.subarray(0, 8192).includes(0));
  return isText ? { title: '', text: raw, cut } : undefined;
}

/** What is ours is outside the marks, what is theirs inside. */
function shown(fetched: Fetched, { title, text: whole, cut }: Page, offset: number, most: number): ToolResult {
  const part = whole.slice(offset, offset + most).replace(halved, '');
  const end = offset + part.length;
  const details = { url: fetched.url, status: fetched.status, type: fetched.type, title, chars: whole.length, truncated: cut };
  if (whole === '') return { ...text(`${headOf(fetched)}\n[the page has no text]`), details };
  if (part === '')
    return {
      ...text(`${headOf(fetched)}\n[the page has ${whole.length} characters; offset ${offset} is past its end]`),
      details,
      isError: true,
    };
  const more = end < whole.length ? `[characters ${offset}-${end} of ${whole.length}; more with offset ${end}]` : undefined;
  const lost = cut && !more ? '[the page is longer than what is read of it; its end is missing]' : undefined;
  const said = untrusted(hostOf(fetched.url), title && offset === 0 ? `# ${title}\n\n${part}` : part);
  return { ...text([headOf(fetched), said, more, lost].filter((line) => line !== undefined).join('\n')), details };
}

/** The first half of a character that is read on with its second. */
const halved = /(?<=[^])[\ud800-\udbff]$/;

/** A type is two short words; what is none is not repeated. */
const nameOf = (type: string) => (/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : '');

const hostOf = (url: string) => new URL(url).host;

function headOf({ url, status, type, redirects }: Fetched): string {
  // Both are the server's words, and stand outside the marks.
  const where = neutral(shortened(url, 500));
  return `${where} (HTTP ${status}, ${nameOf(type) || 'no type'}${redirects.length > 0 ? `, after ${redirects.length} redirect${redirects.length > 1 ? 's' : ''}` : ''})`;
}

function image(fetched: Fetched, { run }: ToolCall): ToolResult {
  const { type: mimeType, body, truncated } = fetched;
  const facts = `${headOf(fetched)}\n[${mimeType}, ${body.length} bytes`;
  if (truncated || body.length > maxImageBytes) return { ...text(`${facts}; over the limit of ${maxImageBytes}]`), isError: true };
  if (!run.find(Turn)?.model.input.includes('image')) return text(`${facts}; the model in use takes no images]`);
  return {
    content: [
      { type: 'text', text: `${facts}]` },
      { type: 'image', data: Buffer.from(body).toString('base64'), mimeType },
    ],
  };
}
