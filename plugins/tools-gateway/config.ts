import { readFile } from 'node:fs/promises';
import { type Host, KernelError, messageOf, nearest } from '../../kernel/index.ts';
import { hidden } from './hidden.ts';

const maxChars = 20_000;

/** The config as its file has it now, not as it is resolved: references stay references, and what looks like a secret is hidden. */
export async function configAt(path: string, { configFile, place }: Pick<Host, 'configFile' | 'place'>): Promise<string> {
  if (configFile === undefined) throw new KernelError('GATEWAY_CONFIG', 'there is no config file: everything is as it is by default');
  const value = valueAt(hidden(await parsed(configFile)), path);
  const said = JSON.stringify(value, null, 1);
  const shown =
    said.length > maxChars
      ? `${said.slice(0, maxChars).toWellFormed()}\n[cut: ${said.length - maxChars} more characters; name a path]`
      : said;
  return `${path ? place(path) : configFile}\n${shown}`;
}

async function parsed(file: string): Promise<unknown> {
  try {
    const { default: JSON5 } = await import('json5');
    return JSON5.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new KernelError('GATEWAY_CONFIG', `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function valueAt(config: unknown, path: string): unknown {
  let at = config;
  for (const key of path.split(/[.[\]"]+/).filter(Boolean)) {
    const keys = typeof at === 'object' && at !== null ? Object.keys(at) : [];
    if (!keys.includes(key)) throw missing(path, key, keys);
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

function missing(path: string, key: string, keys: readonly string[]): KernelError {
  const near = nearest(key, keys);
  const cure = near ? `; did you mean "${near}"?` : keys.length > 0 ? `; there are ${keys.slice(0, 20).join(', ')}` : '';
  return new KernelError('GATEWAY_CONFIG', `the file has nothing at "${path}": no "${key}"${cure}`);
}
