import { KernelError, type Run } from '../../../kernel/index.ts';
import type { Fetched } from '../../fetch/contract.ts';
import { untrustedLine } from '../../prompt/contract.ts';
import { isSecretRef, Secrets } from '../../secrets/contract.ts';
import type { SearchSettings } from './provider.ts';

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
};

/** The words of a snippet that has tags and entities in it, on one line. */
export function wordsOf(html: unknown): string {
  if (typeof html !== 'string') return '';
  return html
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, dec, hex, name) => {
      const code = dec ? Number(dec) : hex ? Number.parseInt(hex, 16) : undefined;
      if (code === undefined) return entities[String(name).toLowerCase()] ?? whole;
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .replace(/\s+/g, ' ')
    .trim();
}

/** What a provider answered, parsed; else the error that a model, or the owner, can act on. `cure` is what the owner does where it refuses. */
export function searchAnswer(
  provider: string,
  answer: Fetched,
  { apiKey, keyPath }: SearchSettings,
  run: Run,
  cure = `check ${keyPath}`,
): unknown {
  const { status } = answer;
  if (status === 401 || status === 403) {
    if (isSecretRef(apiKey)) run.find(Secrets)?.forget(apiKey);
    throw new KernelError('SEARCH_KEY', `${provider} refused the request (HTTP ${status}); the owner must ${cure}`);
  }
  if (status === 429) throw new KernelError('SEARCH_LIMIT', `${provider} allows no more searches now (HTTP 429); try again later`);
  if (status !== 200) {
    const said = wordsOf(answer.text()).slice(0, 200);
    throw new KernelError('SEARCH_FAILED', `${provider} answered with HTTP ${status}${said && `: ${untrustedLine(provider, said)}`}`);
  }
  try {
    return JSON.parse(answer.text());
  } catch (cause) {
    throw new KernelError('SEARCH_FAILED', `${provider} answered with what is no JSON`, { cause });
  }
}

/** The list at a path of an answer; empty where there is none. What a stranger sends may have any shape. */
export function listAt(answer: unknown, ...keys: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  const found = keys.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined),
    answer,
  );
  return Array.isArray(found) ? found.filter((one) => typeof one === 'object' && one !== null) : [];
}
