import type { BootOptions } from './boot.ts';
import type { Env } from './config-text.ts';
import type { Holder } from './lock.ts';

/** What this process can be, for whoever reads its command line. Each part is loaded at its first use. */
export const host = {
  /** Undefined where another process has the state folder. */
  takeLock: async (home: string, mode: Holder['mode']) => (await import('./lock.ts')).takeLock(home, mode),
  /** Who said last that it has the state folder. */
  readHolder: async (home: string) => (await import('./lock.ts')).readHolder(home),
  /** The config as its text has it; no plugin is asked. */
  readConfig: async (file: string | undefined, env: Env) => (await import('./config-text.ts')).readConfig(file, env),
  /** A gateway in this process. */
  boot: async (options: BootOptions) => (await import('./boot.ts')).boot(options),
};
