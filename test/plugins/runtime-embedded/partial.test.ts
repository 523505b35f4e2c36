import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Events } from '../../../plugins/events/contract.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { bundledPlugins, fakeChannel, type TestKernel, testKernel } from '../../../plugins/testing/kit.ts';

const said = 'Grüße aus 東京 😀, and more.';
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const frames = [...said.match(/.{1,5}/gu)!].map((piece) => chunk({ content: piece }));
const stream = Buffer.from([...frames, chunk({}, 'stop'), 'data: [DONE]\n\n'].join(''));
/** Byte after which the last piece of the text has come whole: from here on the reply is complete or as good as. */
const whole = Buffer.byteLength(frames.join(''));

/** Texts that are there once so many bytes have come. */
function textAt(bytes: number): string {
  let [at, text] = [0, ''];
  for (const frame of frames) {
    at += Buffer.byteLength(frame);
    if (at <= bytes) text += (JSON.parse(frame.slice(5)) as { choices: [{ delta: { content: string } }] }).choices[0].delta.content;
  }
  return text;
}

let cut = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(stream.subarray(0, cut), () => response.destroy());
    if (cut === 0) response.destroy();
  });
});
const channel = fakeChannel();
const doors = [
  'chat',
  'cli',
  'gateway',
  'openai-http',
  'web',
  'watch',
  'model-demo',
  'models-pi',
  'plugins-admin',
  'failover',
  'auth-profiles',
];
let t: TestKernel;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  t = await testKernel({
    plugins: [...(await bundledPlugins(doors)), channel],
    config: {
      agents: { defaults: { model: 'cut/m' } },
      models: {
        providers: {
          cut: {
            baseUrl,
            apiKey: 'k',
            api: 'openai-completions',
            models: [{ id: 'm', name: 'm', contextWindow: 200_000, maxTokens: 8192 }],
          },
        },
      },
    },
  });
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  server.close().closeAllConnections();
});

test('SPEC 6.2: wherever a stream is cut, what had come of the text is in the transcript, in the events and in the answer', async () => {
  const shown = new Map<string, string>();
  await t.kernel.run((run) =>
    run.get(Events).watch({}, ({ type, sessionKey = '', data }) => {
      if (type === 'message_update') shown.set(sessionKey, (shown.get(sessionKey) ?? '') + String(data['delta']));
    }),
  );
  for (cut = 0; cut < whole; cut++) {
    const sessionKey = `agent:main:cut-${cut}`;
    const { payloads, meta } = await channel.ask('go', { sessionKey });
    const expected = textAt(cut);
    expect(meta.error).toMatchObject({ code: expect.stringMatching(/MODEL_STREAM_CUT|MODEL_UNREACHABLE/) });
    expect(payloads.map(({ text, isError }) => (isError ? 'error' : text))).toEqual(expected ? [expected, 'error'] : ['error']);
    const entries = await t.kernel.run(async (run) => (await run.get(Sessions).open(sessionKey)).entries);
    const replies = entries.flatMap(({ message }) => (message.role === 'assistant' ? message.content : []));
    expect(replies).toEqual(expected ? [{ type: 'text', text: expected }] : []);
    await expect.poll(() => shown.get(sessionKey) ?? '', { interval: 2 }).toBe(expected);
  }
}, 60_000);
