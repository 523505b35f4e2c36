import { join } from 'node:path';
import type { BootOptions, Provisions } from './contract.ts';
import { readEnv } from './surroundings.ts';

/** The config's text, a log in the state folder; users' plugins through rollup, which is loaded when there is one. */
export async function provisions({ home, show }: Pick<BootOptions, 'home' | 'show'>): Promise<Provisions> {
  const [{ openLog }, { readConfig }] = await Promise.all([import('./log-file.ts'), import('./text/config-text.ts')]);
  return {
    readConfig,
    env: () => readEnv(home),
    log: openLog(join(home, 'logs'), { show }),
    async bundle(entry) {
      const [{ bundle }, { marked }] = await Promise.all([import('./bundle.ts'), import('./origin.ts')]);
      const made = await bundle(entry);
      return { ...made, value: marked(made.value) };
    },
  };
}
