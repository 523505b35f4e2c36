import { join } from 'node:path';
import type { BootOptions, Provisions } from './contract.ts';
import { readEnv } from './surroundings.ts';

/** A log in the state folder; users' plugins through rollup, which is loaded when there is one. */
export async function provisions({ home, show }: Pick<BootOptions, 'home' | 'show'>): Promise<Provisions> {
  const { openLog } = await import('./log-file.ts');
  return {
    env: () => readEnv(home),
    log: openLog(join(home, 'logs'), { show }),
    bundle: async (entry) => (await import('./bundle.ts')).bundle(entry),
  };
}
