import * as fc from 'fast-check';
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { definePlugin, given, type Log, RegisterTools, type Run, text, type ToolResult } from '../../../kernel/index.ts';
import { Models } from '../../../plugins/models/contract.ts';
import models from '../../../plugins/models/index.ts';
import modelsOpenai from '../../../plugins/models-openai/index.ts';
import modelsPi from '../../../plugins/models-pi/index.ts';
import { embedded } from '../../../plugins/runtime-embedded/loop.ts';
import { openWorkTime } from '../../../plugins/turns/work-time.ts';
import { WorkTime } from '../../../plugins/turns/contract.ts';
import { settingsOf } from '../../../plugins/runtime-embedded/settings.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import { limitHistoryTurns } from '../../../plugins/sessions/history-limit.ts';
import { openTranscript, type OwnTranscript } from '../../../plugins/sessions/transcript.ts';
import { allowAll } from '../../../plugins/testing/kit.ts';
import { bootTest, type TestKernel } from '../../support/kernel.ts';
import { chat } from '../../support/mock-model/chat.ts';
import { google } from '../../support/mock-model/google.ts';
import { messages } from '../../support/mock-model/messages.ts';
import { responses } from '../../support/mock-model/responses.ts';
import type { Wire } from '../../support/mock-model/wire.ts';
import { makers, oddIds, oddNames, oddTexts } from '../../support/odd-conversations.ts';
import { strictServer, type StrictApi } from '../../support/strict-server.ts';
import { tool } from './product.ts';

/** What the server does with one request. */
interface Scripted {
  readonly deltas: readonly string[];
  readonly thinking?: string | undefined;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  /** Of its bytes, after which the connection breaks. */
  readonly cutAt?: number | undefined;
  /** Item ids as those of the reply before. */
  readonly sameIds: boolean;
  readonly signed: boolean;
}

/** One turn, and what happens to it. */
interface Step {
  readonly maker: (typeof makers)[number];
  readonly replies: readonly Scripted[];
  readonly says: string;
  readonly picture: boolean;
  /** The turn is stopped at its so-manieth event. */
  readonly stopAt?: number | undefined;
  /** The process ends, with so many bytes of the file not written, and begins anew. */
  readonly crash?: number | undefined;
  readonly limit?: number | undefined;
}

const optional = <T>(arbitrary: fc.Arbitrary<T>, freq = 3) => fc.option(arbitrary, { nil: undefined, freq });
const scripted: fc.Arbitrary<Scripted> = fc.record({
  deltas: fc.array(fc.constantFrom(...oddTexts), { maxLength: 2 }),
  thinking: optional(fc.constantFrom('hm', ' ')),
  calls: fc.array(
    fc.record({
      id: fc.constantFrom(...oddIds),
      name: fc.constantFrom(...oddNames),
      args: fc.constantFrom('{}', '{"path":"a"}', '{"path":"half \\ud83d"}', '{"broken', '[1]'),
    }),
    { maxLength: 3 },
  ),
  cutAt: optional(fc.double({ min: 0, max: 1, noNaN: true }), 4),
  sameIds: fc.boolean(),
  signed: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.record({
  maker: fc.constantFrom(...makers),
  replies: fc.array(scripted, { maxLength: 3 }),
  says: fc.constantFrom(...oddTexts),
  picture: fc.boolean(),
  stopAt: optional(fc.nat(8), 4),
  crash: optional(fc.nat(1500), 3),
  limit: optional(fc.integer({ min: 1, max: 3 }), 3),
});

const wires: Readonly<Record<StrictApi, Wire>> = {
  'openai-completions': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  'google-generative-ai': google,
};
const plain: Scripted = { deltas: ['fine'], calls: [], sameIds: false, signed: true };

let server: Awaited<ReturnType<typeof strictServer>>;
let kernel: TestKernel;
let script: Scripted[] = [];
let count = 0;
const dir = mkdtempSync(join(tmpdir(), 'instar-validity-'));

function answer(api: StrictApi, response: ServerResponse) {
  const said = script.shift() ?? plain;
  const { thinking, deltas, calls, cutAt, sameIds, signed } = said;
  const facts = { id: sameIds ? count : ++count, model: 'm', input: 1, output: 1, cached: 0, usage: true };
  let body = wires[api].frames({ deltas, calls, ...(thinking && { thinking }) }, facts).join('');
  if (signed) {
    body = body.replaceAll('"type":"reasoning",', '"type":"reasoning","encrypted_content":"enc",');
    body = body.replace('{"functionCall":{', `{"thoughtSignature":"c2ln","functionCall":{"id":${JSON.stringify(calls[0]?.id ?? 'x')},`);
  }
  const bytes = Buffer.from(body);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (cutAt === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, Math.floor(bytes.length * cutAt)), () => response.destroy());
}

const picture = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } as const;
const results: readonly ToolResult[] = [
  text('content'),
  { content: [] },
  text('half \ud83d'),
  { content: [picture] },
  { content: [{ type: 'text', text: 'an error' }, picture], isError: true },
  { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/svg+xml' }] },
];
let reads = 0;
const read = tool('read', () => results[reads++ % results.length]!, { parallel: true });
const log: Log = { debug() {}, info() {}, warn() {}, error() {} };

beforeAll(async () => {
  server = await strictServer(({ api }, response) => answer(api, response));
  const own = definePlugin({ name: 'own-tools', description: '', setup: (ctx) => ctx.tap(RegisterTools, (known) => [...known, read]) });
  const blocks = Map.groupBy(makers, ({ provider }) => provider);
  const providers = Object.fromEntries(
    [...blocks].map(([provider, list]) => [
      provider,
      {
        baseUrl: server.url,
        apiKey: 'k',
        api: list[0]!.api,
        models: list.map(({ id, api: _api, provider: _provider, ...more }) => ({
          id,
          name: id,
          contextWindow: 200_000,
          maxTokens: 4096,
          input: ['text', 'image'],
          ...more,
        })),
      },
    ]),
  );
  kernel = await bootTest([models, modelsOpenai, modelsPi, allowAll, own], { models: { providers } });
});
afterAll(async () => {
  await kernel[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true });
});

async function takeTurn({ maker, replies, says, picture: withPicture, stopAt, limit }: Step, transcript: OwnTranscript) {
  const stop = new AbortController();
  let events = 0;
  const emit = () => {
    if (events++ === stopAt) stop.abort();
  };
  script = [...replies];
  const turn = async (run: Run) => {
    const model = await run.get(Models).resolve(run, `${maker.provider}/${maker.id}`);
    await transcript.history();
    await transcript.append({ role: 'user', content: withPicture ? [{ type: 'text', text: says }, picture] : says, timestamp: 1 });
    const history = limitHistoryTurns(await transcript.history(), limit);
    const facts = {
      runId: run.id,
      agentId: 'main',
      sessionKey: 's',
      sessionId: 's',
      itemId: 'i',
      trigger: 'user',
      workspace: dir,
      model,
    } as const;
    const append = async (message: Message, id?: string) => void (await transcript.append(message, id ? { id } : {}));
    const input = { turn: facts, system: 'You are a test.', history, append, emit, steered: async () => [] };
    return embedded({ ...settingsOf({}), graceMs: 500 }, log)(input, run);
  };
  await kernel.kernel.run(turn, { signal: stop.signal, values: [given(WorkTime, openWorkTime())] });
}

test('SPEC 6.4: through cuts, stops, crashes, limits, quirks and changes of model every request is one that its provider takes', async () => {
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const file = join(dir, `${++files}.jsonl`);
      const open = () => openTranscript({ file, sessionId: 's', workspace: dir, log });
      let transcript = open();
      const before = server.requests.length;
      for (const one of [...steps, { maker: steps[0]!.maker, replies: [], says: 'and now?', picture: false }]) {
        await takeTurn(one, transcript);
        if (one.crash === undefined) continue;
        const { size } = statSync(file);
        truncateSync(file, Math.max(0, size - one.crash));
        transcript = open();
      }
      const sent = server.requests.slice(before);
      expect(sent.flatMap(({ api, faults }) => faults.map((fault) => `${api}: ${fault}`))).toEqual([]);
      expect(sent.length).toBeGreaterThan(0);
    }),
    { numRuns: 60 },
  );
}, 120_000);
