import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Model, ModelAdapter } from '../../../plugins/models/contract.ts';
import { completions } from '../../../plugins/models-openai/adapter.ts';
import { connections } from '../../../plugins/models-openai/exchange.ts';
import { piAdapter } from '../../../plugins/models-pi/adapter.ts';
import { protocols } from '../../../plugins/models-pi/protocols.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import { portable } from '../../../plugins/sessions/contract/portable.ts';
import { makers, oddConversation } from '../../support/odd-conversations.ts';
import { refuse, strictServer } from '../../support/strict-server.ts';

let server: Awaited<ReturnType<typeof strictServer>>;
const pool = connections({});
beforeAll(async () => {
  server = await strictServer(refuse);
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const adapterOf = (api: string): ModelAdapter =>
  api === 'openai-completions' ? completions(pool, 'test') : piAdapter(protocols.find((protocol) => protocol.api === api)!, 'test');

const modelOf = (maker: (typeof makers)[number]): Model => ({
  name: maker.id,
  baseUrl: server.url,
  contextWindow: 200_000,
  maxTokens: 4096,
  input: ['text', 'image'],
  reasoning: false,
  ...maker,
});

const tools = [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: { path: { type: 'string' } } } }];

/** What the provider would say of the request that these messages become. */
async function faultsOf(maker: (typeof makers)[number], messages: readonly Message[], thinking?: string): Promise<readonly string[]> {
  const before = server.requests.length;
  const request = {
    model: modelOf(maker),
    system: 'You are a test. \ud83d',
    messages,
    tools,
    apiKey: 'k',
    signal: new AbortController().signal,
    ...(thinking && { thinking }),
  };
  const { failure } = await adapterOf(maker.api).complete(request, () => {});
  const sent = server.requests.slice(before);
  return sent.length === 1 ? sent[0]!.faults : [`${sent.length} requests were sent: ${failure?.code}: ${failure?.message}`];
}

describe.each(makers)('$api, $provider/$id', (maker) => {
  test('SPEC 6.4: whatever is in a transcript, the next request is one that the provider takes', async () => {
    await fc.assert(
      fc.asyncProperty(oddConversation, fc.constantFrom(undefined, 'high'), async (messages, thinking) => {
        expect(await faultsOf(maker, messages, thinking)).toEqual([]);
      }),
      { numRuns: 120 },
    );
  }, 60_000);
});

test('a portable conversation stays as it is when it is made portable again, and its messages keep their identity', () => {
  fc.assert(
    fc.property(oddConversation, (messages) => {
      const once = portable(messages, { longest: 40 });
      const again = portable(messages, { longest: 40 });
      expect(again.every((message, i) => message === once[i])).toBe(true);
      expect(portable(once, { longest: 40 })).toEqual(once);
    }),
  );
});
