import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, freePort, type Gateway } from './process.ts';

const root = join(import.meta.dirname, '../..');
export const token = 'bench';

/** Instar as `node bin.js start` runs it from a clone, with its state in `folder`. */
export async function instar(model: string, folder: string, config: string, maxConcurrent = 64): Promise<Gateway> {
  const port = await freePort();
  const provider = {
    baseUrl: `${model}/v1`,
    apiKey: 'sk-mock',
    api: 'openai-completions',
    models: [{ id: 'm', name: 'm', contextWindow: 1_000_000, maxTokens: 8192 }],
  };
  const settings = {
    gateway: { port, auth: { token }, http: { endpoints: { chatCompletions: { enabled: true } } } },
    agents: { defaults: { workspace: join(folder, 'ws'), model: 'mock/m', maxConcurrent }, list: [{ id: 'main' }] },
    models: { providers: { mock: provider } },
  };
  writeFileSync(config, JSON.stringify(settings));
  const url = `http://127.0.0.1:${port}`;
  return {
    name: 'instar',
    url,
    args: [join(root, 'bin.js'), 'start', '--config', config],
    env: { INSTAR_HOME: join(folder, 'home'), INSTAR_NO_DETECT: '1' },
    turn(content, key) {
      const headers = { authorization: `Bearer ${token}`, 'x-instar-session-key': `agent:main:bench:${key}` };
      return ask('POST', `${url}/v1/chat/completions`, { model: 'instar/main', messages: [{ role: 'user', content }] }, headers);
    },
  };
}

/** floor.js */
export async function floor(model: string): Promise<Gateway> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return {
    name: 'floor',
    url,
    args: [join(import.meta.dirname, 'floor.js'), String(port), model],
    turn: (content) => ask('POST', `${url}/v1/chat/completions`, { model: 'm', messages: [{ role: 'user', content }] }),
  };
}

export async function good(gateway: Gateway, text: string, key: string) {
  const reply = await gateway.turn(text, key);
  if (reply.status !== 200) throw new Error(`${gateway.name}: HTTP ${reply.status} ${reply.text.slice(0, 300)}`);
  return reply;
}
