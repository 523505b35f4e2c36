import { join } from 'node:path';

export { bundledPlugins as bundled } from '../../plugins/testing/kit.ts';

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
