import { refusal } from './contract.ts';

const ours = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a Host header names this machine. A page of a foreign site whose name was bound to 127.0.0.1 (DNS
 * rebinding) sends that name. Any port is right: a tunnel has its own.
 */
export function namesUs(host: string | undefined): boolean {
  const name = /^([^:]+|\[[^\]]+\])(?::\d{1,5})?$/.exec(host?.toLowerCase() ?? '')?.[1];
  return name !== undefined && ours.has(name);
}

/** Throws where a browser speaks for a page that is neither ours nor allowed. True for a page of another origin. */
export function checkOrigin(origin: string | undefined, host: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return false;
  if (origin !== 'null' && allowed.includes(origin)) return true;
  throw refusal(403, 'GATEWAY_ORIGIN', `pages of ${origin} may not use this gateway; add the origin to gateway.allowedOrigins`);
}

/** What a page of another origin may do: all, since it must still bring the token. */
export const corsHeaders = (origin: string, asked: string | undefined) => ({
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers': asked ?? 'authorization, content-type',
  'access-control-max-age': '600',
  vary: 'origin',
});
