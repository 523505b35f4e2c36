import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { KernelError, type Run } from '../../kernel/index.ts';
import { type Allowance, refusalOf } from './addresses.ts';
import { neutral, shortened, untrustedLine } from '../prompt/contract.ts';
import { type FetchRequest, Resolve } from './contract.ts';

/** An address that was judged, to be connected to as it is. */
export interface Target {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The URL parser writes every notation of an IPv4 host (decimal, octal, hex, short, full-width) as the address that it means. */
export function urlOf(text: string, base?: string): URL {
  const told = (words: string) => (base === undefined ? `"${shown(words)}"` : `${shown(base)} redirected to ${theirs(base, words)}, which`);
  if (!URL.canParse(text, base)) throw new KernelError('FETCH_URL', `${told(text)} is no URL; give one such as https://example.org/`);
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new KernelError('FETCH_URL', `${told(url.protocol)} is not fetched; only http: and https: are`);
  }
  if (url.username || url.password) throw new KernelError('FETCH_URL', 'the URL holds a user or password; leave them out');
  url.hash = '';
  return url;
}

/** An address in a message. */
export const shown = (url: string): string => neutral(shortened(url, 200));

/** The address of a request. One that the owner's config named may hold a key, and is told by its origin alone. */
export const named = ({ owned }: FetchRequest, url: string): string =>
  shown(owned ? (URL.parse(url)?.origin ?? 'the address in the config') : url);

/** What a server said, in a message that a model reads. */
export const theirs = (url: string, words: string): string => untrustedLine(URL.parse(url)?.host ?? 'a server', words, 300);

/** Looks the host up once and judges every address of the answer: one that is not allowed refuses them all. */
export async function targetsOf(url: URL, allowed: readonly Allowance[], run: Run): Promise<readonly Target[]> {
  const host = hostOf(url);
  const addresses = isIP(host) ? [host] : await resolve(host, run);
  for (const address of addresses) {
    const why = refusalOf(address);
    if (why === undefined || allowed.some((one) => one.has(host, address))) continue;
    const where = host === address ? address : `${host} leads to ${address}, which`;
    throw new KernelError('FETCH_BLOCKED', `${where} ${why}; it is not fetched unless fetch.allowPrivate names it`);
  }
  return addresses.map((address) => ({ address, family: isIP(address) === 4 ? 4 : 6 }));
}

/** Without the brackets of IPv6 and the dot of a full name. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

async function resolve(host: string, run: Run): Promise<readonly string[]> {
  const bySystem: Resolve = async (name) => (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
  const addresses = await (run.find(Resolve) ?? bySystem)(host).catch((cause: unknown) => {
    throw new KernelError('FETCH_FAILED', `there is no host "${host}"; check the name`, { cause });
  });
  if (addresses.length === 0) throw new KernelError('FETCH_FAILED', `host "${host}" has no address; check the name`);
  return addresses;
}
