import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { given, type Plugin, type Run } from '../../kernel/index.ts';
import agents from '../../plugins/agents/index.ts';
import authProfiles from '../../plugins/auth-profiles/index.ts';
import events from '../../plugins/events/index.ts';
import failover from '../../plugins/failover/index.ts';
import { type Client, type Method, Methods } from '../../plugins/gateway/contract.ts';
import { AskModel, type ModelReply, Models } from '../../plugins/models/contract.ts';
import modelsOpenai from '../../plugins/models-openai/index.ts';
import models from '../../plugins/models/index.ts';
import secrets from '../../plugins/secrets/index.ts';
import store from '../../plugins/store/index.ts';
import { Turn } from '../../plugins/turns/contract.ts';
import { bootTest, type TestKernel, type TestOptions } from './kernel.ts';

/** What an ask needs, from the store to the wire. */
export const modelPlugins: readonly Plugin[] = [store, secrets, agents, events, models, modelsOpenai, authProfiles, failover];

export interface Seen {
  readonly key: string;
  readonly path: string;
  readonly body: string;
}

/** A server whose answers the test makes. */
export async function server(answer: (seen: Seen, response: ServerResponse) => void | Promise<void>) {
  const seen: Seen[] = [];
  const http = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const one = { key: (request.headers.authorization ?? '').replace('Bearer ', ''), path: request.url ?? '', body };
      seen.push(one);
      void answer(one, response);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    seen,
    keys: () => seen.map(({ key }) => key),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise<unknown>((resolve) => http.close(resolve));
    },
  };
}

export function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
export const says = (response: ServerResponse, content = 'yes', usage: object = { prompt_tokens: 10, completion_tokens: 2 }) =>
  json(response, 200, { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage });
export const refuses = (response: ServerResponse) => json(response, 401, { error: { message: 'bad', code: 'invalid_api_key' } });

/** Providers `a` and `b` with a model `1` each, at `<url>/a` and `<url>/b`. */
export const providersAt = (url: string) => ({
  providers: { a: { baseUrl: `${url}/a`, models: [{ id: '1' }] }, b: { baseUrl: `${url}/b`, models: [{ id: '1' }] } },
});

export const bootModels = (config: object, more: readonly Plugin[] = [], options: TestOptions = {}) =>
  bootTest([...modelPlugins, ...more], { agents: { defaults: { model: 'a/1' }, list: [{ id: 'main' }] }, ...config }, options);

interface Ask {
  readonly session?: string;
  readonly content?: string;
}

/** As a turn asks, with what the config chooses. */
export async function askIn(run: Run, { session = 's', content = 'hi' }: Ask = {}): Promise<ModelReply> {
  const { model, missing } = await run.get(Models).choose(run, 'main');
  const turn: Turn = {
    runId: run.id,
    agentId: 'main',
    sessionKey: `agent:main:${session}`,
    sessionId: session,
    itemId: 'i',
    trigger: 'user',
    workspace: '/',
    model,
    ...(missing && { modelMissing: missing }),
  };
  const own = run.as({ subject: { agent: 'main', provider: model.provider, model: model.id }, values: [given(Turn, turn)] });
  const messages = [{ role: 'user', content, timestamp: 1 }] as const;
  const request = { model, system: '', messages, tools: [], signal: own.signal, sessionId: session };
  return (await own.call(AskModel, { request, on: () => {} }))!;
}
export const ask = ({ kernel }: TestKernel, how: Ask = {}): Promise<ModelReply> => kernel.run((run) => askIn(run, how));

export const told = ({ failure, message }: ModelReply): string =>
  failure?.code ?? message.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');

export const call = <T>(t: TestKernel, method: string, params: object = {}): Promise<T> =>
  t.kernel.run(
    async (run) => (await ((await run.call(Methods, {}))[method] as Method)(params as Record<string, unknown>, {} as Client, run)) as T,
  );
