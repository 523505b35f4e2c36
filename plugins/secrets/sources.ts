import { type Stats, lstatSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type Question, Unavailable } from './provider.ts';

export function fromEnvironment({ id, name, provider, env }: Question): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) throw new Unavailable(`${JSON.stringify(id)} is no name of a variable`);
  if (provider.allowlist && !provider.allowlist.includes(id))
    throw new Unavailable(`secrets.providers.${name}.allowlist does not name ${id}`);
  const value = env[id];
  if (value) return value;
  throw new Unavailable(`the environment variable ${id} is not set; set it, or add ${id}=… to the .env file of the state folder`);
}

export const fileAt = (path: string) => resolve(path.replace(/^~(?=$|\/)/, homedir()));

/** Read each time: a secret that is replaced in its file is used at once. */
export function fromFile({ id, name, provider }: Question): string {
  if (!provider.path) throw new Unavailable(`secrets.providers.${name} has no path; add the file's`);
  const file = fileAt(provider.path);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new Unavailable(`${file} (secrets.providers.${name}.path) is not there; create it`);
  if (!stats.isFile()) throw new Unavailable(`${file} (secrets.providers.${name}.path) is no regular file`);
  if (stats.size > provider.maxBytes)
    throw new Unavailable(`${file} is larger than ${provider.maxBytes} bytes (secrets.providers.${name}.maxBytes)`);
  refuseOpen(file, stats, `secrets.providers.${name}`, provider.allowInsecurePath);
  const text = readFileSync(file, 'utf8');
  return provider.mode === 'singleValue' ? single(id, text, file) : pointed(id, text, file);
}

function single(id: string, text: string, file: string): string {
  if (id !== 'value') throw new Unavailable(`${file} holds one secret, whose id is "value", not ${JSON.stringify(id)}`);
  const value = text.replace(/\r?\n$/, '');
  if (value) return value;
  throw new Unavailable(`${file} is empty`);
}

/** By JSON pointer (RFC 6901). What the file holds is not shown, whatever is wrong with it. */
function pointed(id: string, text: string, file: string): string {
  if (!id.startsWith('/')) throw new Unavailable(`${JSON.stringify(id)} is no JSON pointer; write e.g. "/openai/apiKey"`);
  let at: unknown;
  try {
    at = JSON.parse(text);
  } catch {
    throw new Unavailable(`${file} is no JSON; mend it, or say mode: "singleValue"`);
  }
  for (const part of id.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
  }
  if (typeof at === 'string' && at) return at;
  throw new Unavailable(`${file} has no text at ${id}`);
}

/** What another user can write, he can make say anything. */
export function refuseOpen(file: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>, at: string, isAllowed: boolean): void {
  if (isAllowed) return;
  const own = process.getuid?.();
  const isForeign = own !== undefined && uid !== own && uid !== 0;
  const cure = `or set ${at}.allowInsecurePath: true`;
  if (isForeign) throw new Unavailable(`${file} belongs to another user; chown it, ${cure}`);
  if ((mode & 0o022) !== 0) throw new Unavailable(`${file} may be written by other users; run "chmod go-w ${file}", ${cure}`);
}

export const isLink = (file: string) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
