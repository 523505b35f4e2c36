import { expect, test } from 'vitest';
import { bundledPlugins, fakeChannel, testKernel } from '../../../plugins/testing/kit.ts';
import { startMock } from '../../support/mock-model.ts';

test.each([
  ['openai-completions', '/v1'],
  ['openai-responses', '/v1'],
  ['anthropic-messages', ''],
  ['google-generative-ai', '/v1beta'],
])('SPEC 7.4: a server that speaks %s finds the request too long, and answers the compacted one', async (api, path) => {
  await using mock = await startMock();
  const channel = fakeChannel();
  const block = { baseUrl: `${mock.url}${path}`, apiKey: 'key-of-test', api, models: [{ id: 'm', contextWindow: 200_000 }] };
  await using _kernel = await testKernel({
    plugins: [...(await bundledPlugins()), channel],
    config: { models: { providers: { mock: block } }, agents: { defaults: { model: 'mock/m' } } },
  });
  for (let i = 0; i < 6; i++) expect((await channel.ask(`hello ${i} ${'word '.repeat(1_000)}`)).meta.error).toBeUndefined();
  const before = mock.requests.length;
  const answer = await channel.ask('[[overflow times=1]]');
  expect(answer.text).toBe('recovered');
  const [refused, summary, again, ...more] = mock.requests.slice(before);
  expect(more).toEqual([]);
  expect(refused && again && refused.bytes > again.bytes).toBe(true);
  expect([refused?.asked.offered.length, again?.asked.offered.length, summary?.asked.offered.length]).toEqual([
    refused?.asked.offered.length,
    refused?.asked.offered.length,
    0,
  ]);
  expect(summary?.asked.system).toContain('You write summaries');
});
