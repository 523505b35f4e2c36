import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { detectLocal } from '../../../plugins/models/detect.ts';
import { localServers, type KnownProvider } from '../../../plugins/models/known.ts';

// Who is asked has for ever to answer, unless time is let pass.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type Name = keyof typeof localServers;
type Answers = Readonly<Record<string, unknown>>;

/** As the makers document their identity endpoints and model lists. */
const answers: Readonly<Record<Name, Answers>> = {
  ollama: {
    '/api/version': { version: '0.12.6' },
    '/api/tags': { models: [{ name: 'nomic-embed-text:latest' }, { name: 'gemma3:4b' }, { name: 'qwen3:8b' }] },
    '/api/show': { capabilities: ['completion', 'vision'] },
  },
  lmstudio: {
    '/api/v0/models': {
      object: 'list',
      data: [
        { id: 'meta-llama-3.1-8b-instruct', type: 'llm', state: 'not-loaded', max_context_length: 131072 },
        { id: 'qwen2-vl-7b-instruct', type: 'vlm', state: 'loaded', max_context_length: 32768, loaded_context_length: 8192 },
        { id: 'text-embedding-nomic', type: 'embeddings', state: 'loaded', max_context_length: 2048 },
      ],
    },
  },
  llamacpp: {
    '/props': { default_generation_settings: { n_ctx: 4096 }, build_info: 'b5002-2c3f8b85', model_path: '/models/a.gguf' },
    '/v1/models': { object: 'list', data: [{ id: 'llama-3.2-3b', owned_by: 'llamacpp' }] },
  },
  vllm: {
    '/version': { version: '0.11.0' },
    '/v1/models': { object: 'list', data: [{ id: 'Qwen/Qwen3-8B', owned_by: 'vllm', max_model_len: 8192 }] },
  },
};

async function serve(routes: Answers | undefined): Promise<Server> {
  const server = createServer((request, response) => {
    const answer = routes?.[request.url ?? ''];
    if (answer === 'silence') return;
    response.statusCode = answer ? 200 : 404;
    response.end(answer ? JSON.stringify(answer) : '<h1>not here</h1>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Looks where only the given servers are; something else answers at the other ports. */
async function detect(there: Partial<Record<Name, Answers>>, passes = async () => {}) {
  const servers = await Promise.all((Object.keys(localServers) as Name[]).map(async (name) => [name, await serve(there[name])] as const));
  try {
    const at = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const moved = servers.map(([name, server]) => [name, { ...localServers[name], baseUrl: at(server) }] as const);
    const found = detectLocal(new AbortController().signal, Object.fromEntries(moved) as Record<Name, KnownProvider>);
    await passes();
    return await found;
  } finally {
    for (const [, server] of servers) server.close().closeAllConnections();
  }
}

test.each<[Name, string, object]>([
  ['ollama', 'Ollama 0.12.6', { id: 'gemma3:4b', input: ['text', 'image'], compat: { supportsTools: false } }],
  ['lmstudio', 'LM Studio', { id: 'qwen2-vl-7b-instruct', input: ['text', 'image'], contextWindow: 8192 }],
  ['llamacpp', 'llama.cpp b5002-2c3f8b85', { id: 'llama-3.2-3b', contextWindow: 4096 }],
  ['vllm', 'vLLM 0.11.0', { id: 'Qwen/Qwen3-8B', contextWindow: 8192 }],
])('%s is known by its own identity endpoint', async (name, title, model) => {
  const found = await detect({ [name]: answers[name] });
  expect(found).toMatchObject({ title, provider: { id: name } });
  expect(found!.models[0]).toMatchObject({ provider: name, api: 'openai-completions', ...model });
  expect(found!.models[0]!.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
});

test('the first in the fixed order is taken', async () => {
  expect((await detect(answers))?.provider.id).toBe('ollama');
  expect((await detect({ vllm: answers.vllm, lmstudio: answers.lmstudio }))?.provider.id).toBe('lmstudio');
});

test.each<[string, Partial<Record<Name, Answers>>]>([
  ['nothing at all', {}],
  ['a server without a model', { ollama: { ...answers.ollama, '/api/tags': { models: [] } } }],
  ['a stranger with a version', { vllm: { '/version': { version: '1.0' }, '/v1/models': { data: [{ id: 'a', owned_by: 'me' }] } } }],
  [
    'a stranger with a model list',
    { lmstudio: { '/v1/models': { data: [{ id: 'a' }] } }, llamacpp: { '/v1/models': { data: [{ id: 'a' }] } } },
  ],
  [
    'a server that answers nonsense',
    { lmstudio: { '/api/v0/models': { data: [null] } }, ollama: { '/api/version': { version: 'x' }, '/api/tags': { models: [null, 3] } } },
  ],
])('%s is not taken for one', async (_, there) => {
  expect(await detect(there)).toBeUndefined();
});

test('a server that never answers is not taken for one, and not waited for', async () => {
  const [asked, silent] = [Promise.withResolvers<void>(), { '/api/version': 'silence' }];
  const there = { ollama: new Proxy(silent, { get: (of, path) => (asked.resolve(), Reflect.get(of, path) as unknown) }) };
  const passes = async () => {
    await asked.promise;
    await vi.advanceTimersByTimeAsync(1000);
  };
  expect(await detect(there, passes)).toBeUndefined();
});
