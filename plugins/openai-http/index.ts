import { definePlugin } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Exchange, type Route, Routes } from '../gateway/contract.ts';
import { SendDelivery, type SendResult } from '../outbox/contract.ts';
import { apiError } from './api-error.ts';
import { type Around, completeChat, scheme } from './chat-completions.ts';
import { agentOfModel, modelNames, modelRecord } from './model-names.ts';
import { openWaiters } from './waiters.ts';

const at = 'gateway.http.endpoints.chatCompletions';

const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', default: false, description: 'Answers POST /v1/chat/completions and GET /v1/models.' },
    maxBodyBytes: { type: 'integer', minimum: 1_024, default: 20_971_520, description: 'Bytes of a request with its images.' },
    maxImageParts: { type: 'integer', minimum: 0, default: 8, description: 'Images in one request.' },
  },
} as const;

export default definePlugin({
  name: 'openai-http',
  description: 'The API of OpenAI clients: chat completions, models',
  config: { at, schema },
  async setup(ctx) {
    const { config, log } = ctx;
    const waiters = await ctx.lease('openai-http:waiters', openWaiters);
    const around = { waiters, log, maxImages: config.maxImageParts };
    ctx.tap(Routes, (routes) => [...routes, ...(config.enabled ? answering(around, config.maxBodyBytes) : refusing)]);
    ctx.tap(SendDelivery, (delivery) => {
      if (!delivery.route.startsWith(scheme)) return undefined;
      return waiters.send(delivery) ?? gone;
    });
  },
});

function answering(around: Around, bodyLimit: number): readonly Route[] {
  const created = Math.floor(Date.now() / 1000);
  return [
    { method: 'POST', path: '/v1/chat/completions', bodyLimit, handle: (exchange, run) => completeChat(exchange, run, around) },
    {
      method: 'GET',
      path: '/v1/models',
      handle: (exchange, run) => {
        const data = modelNames(run.get(Agents)).map((name) => modelRecord(name, created));
        exchange.reply(200, { object: 'list', data });
      },
    },
    {
      method: 'GET',
      path: '/v1/models/*',
      handle: (exchange, run) => {
        const name = decoded(exchange.url.pathname.slice('/v1/models/'.length));
        if (agentOfModel(name, run.get(Agents))) exchange.reply(200, modelRecord(name, created));
        else replyWith(exchange, apiError('model_not_found', `there is no model "${name}"`, 404));
      },
    },
  ];
}

/** Slashes of a name may come as they are, or encoded. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // no encoding at all, so no name that we know
  }
}

const gone: SendResult = { kind: 'gone', why: 'the request is not open any more' };

const isOff = apiError('endpoint_disabled', `this endpoint is off; set ${at}.enabled to true`, 404);

const refusing: readonly Route[] = [
  { method: 'POST', path: '/v1/chat/completions', handle: (exchange) => replyWith(exchange, isOff) },
  { method: 'GET', path: '/v1/models', handle: (exchange) => replyWith(exchange, isOff) },
];

const replyWith = (exchange: Exchange, { status, body }: ReturnType<typeof apiError>) => exchange.reply(status, body);
