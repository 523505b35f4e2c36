import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { messageOf } from '../../kernel/index.ts';

/** One answer to a GET of a static file. */
export interface AssetReply {
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Kept {
  readonly stamp: string;
  readonly etag: string;
  readonly body: Buffer;
  readonly zipped: Buffer;
}

const pageFolder = new URL('./page/', import.meta.url);

const contentTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

// The only files of node_modules that are served; the page loads them after its first paint.
const vendored: Readonly<Record<string, string>> = {
  'marked.js': 'marked',
  'dompurify.js': 'dompurify',
  'highlight.js': '@highlightjs/cdn-assets/es/highlight.min.js',
};

/** Serves the page's files from memory; a file that changed on disk is read again, so an edit shows on refresh. */
export function createAssets(): (path: string, headers: IncomingHttpHeaders) => Promise<AssetReply> {
  const cache = new Map<string, Kept>();
  return async (path, headers) => {
    const file = locate(path);
    if (!file) return notFound(`nothing is served at ${path}; the page is at /`);
    try {
      const kept = await load(cache, file);
      return replyWith(kept, typeOf(path), headers, path === '/' ? await documentHeaders(headers.host) : {});
    } catch (error) {
      return notFound(`${path} cannot be read: ${messageOf(error)}`);
    }
  };
}

/** Names match a pattern without dots or slashes to walk with: nothing outside the two folders can be asked for. */
function locate(path: string): URL | undefined {
  if (path === '/') return new URL('index.html', pageFolder);
  const page = /^\/page\/([a-z0-9-]+\.(?:js|css|svg))$/.exec(path);
  if (page?.[1]) return new URL(page[1], pageFolder);
  const vendor = /^\/vendor\/([a-z]+\.js)$/.exec(path);
  const specifier = vendor?.[1] && Object.hasOwn(vendored, vendor[1]) ? vendored[vendor[1]] : undefined;
  return specifier ? new URL(import.meta.resolve(specifier)) : undefined;
}

async function load(cache: Map<string, Kept>, file: URL): Promise<Kept> {
  const { mtimeMs, size } = await stat(file);
  const stamp = `${mtimeMs}:${size}`;
  const known = cache.get(file.href);
  if (known?.stamp === stamp) return known;
  const body = await readFile(file);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const kept = { stamp, body, etag, zipped: await promisify(gzip)(body) };
  cache.set(file.href, kept);
  return kept;
}

function replyWith(kept: Kept, type: string, asked: IncomingHttpHeaders, extra: Record<string, string>): AssetReply {
  const headers = { ...commonHeaders, ...extra, etag: kept.etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
  if (asked['if-none-match'] === kept.etag) return { status: 304, headers, body: Buffer.alloc(0) };
  const isZipped = /\bgzip\b/.test(asked['accept-encoding'] ?? '');
  return {
    status: 200,
    headers: { ...headers, 'content-type': type, ...(isZipped && { 'content-encoding': 'gzip' }) },
    body: isZipped ? kept.zipped : kept.body,
  };
}

/** The modules are named at once, or each level of imports would cost a round trip. */
async function documentHeaders(host: string | undefined): Promise<Record<string, string>> {
  const modules = (await readdir(pageFolder)).filter((name) => name.endsWith('.js') && name !== 'theme.js');
  return {
    'content-security-policy': documentPolicy(host),
    link: modules.map((name) => `</page/${name}>; rel=modulepreload; fetchpriority=low`).join(', '),
  };
}

const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** The socket's address is spelled out: not every browser takes 'self' to cover ws:. */
function documentPolicy(host: string | undefined): string {
  const sockets = host && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${sockets}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // Markup enters the document only through DOMPurify.
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; ');
}

function notFound(why: string): AssetReply {
  return {
    status: 404,
    headers: { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    body: Buffer.from(`${why}\n`),
  };
}

const typeOf = (path: string): string => contentTypes[path === '/' ? 'html' : (path.split('.').pop() ?? '')] ?? '';
