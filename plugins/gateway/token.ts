import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IncomingHttpHeaders } from 'node:http';

/** The token every client shows. */
export interface Token {
  readonly text: string;
  /** Names it without telling it: which token did this client come with? */
  readonly id: string;
  matches(offered: string): boolean;
}

export function tokenOf(text: string): Token {
  const digest = sha256(text);
  return {
    text,
    id: digest.toString('base64url').slice(0, 16),
    // Digests have one length: the time tells nothing of the token, nor of its length.
    matches: (offered) => timingSafeEqual(sha256(offered), digest),
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Config, else environment, else the one made at the first start. An empty one counts as none: it would let anybody in. */
export async function findToken(
  configured: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): Promise<string> {
  const given = configured || env.INSTAR_GATEWAY_TOKEN || env.OPENCLAW_GATEWAY_TOKEN;
  return given || keptToken(join(home, 'token'));
}

async function keptToken(file: string): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(absent))?.trim();
  if (!kept) return makeToken(file);
  if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, 0o600);
  return kept;
}

/** Written aside, then linked: two that start at once end with one token, and no reader sees half of it. */
async function makeToken(file: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const aside = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  await writeFile(aside, `${token}\n`, { mode: 0o600 });
  try {
    if ((await stat(file).catch(absent))?.size === 0) await rm(file);
    await link(aside, file);
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(file, 'utf8')).trim();
  } finally {
    await rm(aside, { force: true });
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

const subprotocol = 'instar.token.';

/** What a client showed: a bearer header, or among the WebSocket subprotocols, since browsers can set no header there. */
export function offeredToken(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer) return bearer;
  const offers = (headers['sec-websocket-protocol'] ?? '').split(',').map((offer) => offer.trim());
  const offer = offers.find((protocol) => protocol.startsWith(subprotocol))?.slice(subprotocol.length);
  return offer ? Buffer.from(offer, 'base64url').toString() : undefined;
}
