import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Surroundings } from './contract.ts';

/** The state folder, the environment and the config file of this process. */
export function surroundings(config: string | undefined): Surroundings {
  const home = resolve(process.env.INSTAR_HOME || join(homedir(), '.instar'));
  const env = readEnv(home);
  const usual = join(home, 'instar.json5');
  const named = config ?? (env.INSTAR_CONFIG || undefined);
  const configFile = named ? resolve(named) : existsSync(usual) ? usual : undefined;
  return { version: readVersion(), home, env, configFile };
}

/** What the process was given wins over `<home>/.env`. */
export function readEnv(home: string): Surroundings['env'] {
  const file = join(home, '.env');
  return { ...(existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}), ...process.env };
}

/** From package.json: beside `plugins/`, or one above `dist/plugins/`. */
export function readVersion(): string {
  const root = join(import.meta.dirname, '../..');
  const file = [root, dirname(root)].map((folder) => join(folder, 'package.json')).find((one) => existsSync(one));
  return (JSON.parse(readFileSync(file ?? '', 'utf8')) as { version: string }).version;
}
