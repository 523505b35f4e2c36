import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from '../../kernel/index.ts';

const folder = join(import.meta.dirname, '../../plugins');

/** Every bundled plugin (but those named), in the order of their names, as a start has them. */
export async function bundled(without: readonly string[] = []): Promise<readonly Plugin[]> {
  const names = readdirSync(folder).filter((name) => !without.includes(name) && existsSync(join(folder, name, 'index.ts')));
  return Promise.all(names.toSorted().map(async (name) => ((await import(join(folder, name, 'index.ts'))) as { default: Plugin }).default));
}

/** Config that uses a mock model, with a workspace in this home. */
export const mockConfig = (url: string, home: string) => ({
  gateway: { auth: { token: 'test-token' } },
  agents: {
    defaults: { workspace: join(home, 'ws'), model: { primary: 'mock/m' } },
    list: [{ id: 'main', default: true }, { id: 'other' }],
  },
  models: {
    providers: {
      mock: {
        baseUrl: `${url}/v1`,
        apiKey: 'sk-mock',
        api: 'openai-completions',
        models: [{ id: 'm', name: 'm', contextWindow: 200000, maxTokens: 8192 }],
      },
    },
  },
});
