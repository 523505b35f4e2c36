import type { BootOptions } from './boot.ts';
import type { Holder } from './lock.ts';

/** What this process can be, for whoever reads its command line. Each part is loaded at its first use. */
export const host = {
  takeLock: async (home: string, mode: Holder['mode']) => (await import('./lock.ts')).takeLock(home, mode),
  readHolder: async (home: string) => (await import('./lock.ts')).readHolder(home),
  boot: async (options: BootOptions) => (await import('./boot.ts')).boot(options),
};
