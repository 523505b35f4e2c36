import { expect, test } from 'vitest';
import { usageOf } from '../../../plugins/budget/estimate.ts';
import type { BudgetStatus } from '../../../plugins/budget/contract.ts';
import { Events } from '../../../plugins/events/contract.ts';
import budget from '../../../plugins/budget/index.ts';
import { attemptOf, type Model, noUsage, type UnsignedRequest } from '../../../plugins/models/contract.ts';
import { Store } from '../../../plugins/store/contract.ts';
import { ask, bootModels, call, providersAt, says, server, told } from '../../support/model-servers.ts';
import type { TestKernel } from '../../support/kernel.ts';

const model: Model = {
  provider: 'p',
  id: 'm',
  name: 'm',
  api: 'x',
  baseUrl: 'http://127.0.0.1:9/v1',
  contextWindow: 1000,
  maxTokens: 100,
  input: ['text'],
  reasoning: false,
};
const request: UnsignedRequest = { model, system: 'x'.repeat(400), messages: [], tools: [], signal: new AbortController().signal };
/** As Anthropic's first event has it: the output is told only at the end. */
const begun = { input: 100, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 101 };
const long = [{ type: 'text', text: 'x'.repeat(40_000) }] as const;

test.each([
  ['a stream that broke off after its input was told', 'MODEL_STREAM_CUT', begun, long, 0, 10_107],
  ['an error in the midst of an answer, of whatever kind', 'MODEL_HTTP', noUsage, long, 0, 10_107],
  ['a call that was cut and is not kept', 'MODEL_STREAM_CUT', begun, [], 40_000, 10_100],
])('%s counts by what came', (_what, code, usage, content, heard, tokens) => {
  const found = usageOf(request, attemptOf(model, { usage, content }, { code, message: 'm' }), heard);
  expect([found.usage.totalTokens, found.isEstimated]).toEqual([tokens, true]);
});

test('what a failure tells of its usage counts where it is more than came', () => {
  const usage = { ...begun, output: 20_000, totalTokens: 20_100 };
  const found = usageOf(request, attemptOf(model, { usage, content: long }, { code: 'MODEL_REFUSED', message: 'm' }));
  expect([found.usage, found.isEstimated]).toEqual([usage, false]);
});

const ledger = (t: TestKernel) =>
  t.kernel.run((run) => run.get(Store).tx((open) => open.all<{ how: string; tokens: number }>('SELECT how, tokens FROM budget_ledger')));

test('a call whose arguments broke off counts by what came of them', async () => {
  await using far = await server((_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const begins = { index: 0, id: 'c', function: { name: 'write', arguments: `{"text":"${'y'.repeat(40_000)}` } };
    response.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [begins] } }] })}\n\n`);
  });
  await using t = await bootModels({ models: providersAt(far.url) }, [budget]);
  expect(told(await ask(t))).toBe('MODEL_STREAM_CUT');
  expect(await ledger(t)).toEqual([{ how: 'estimated', tokens: expect.toSatisfy((tokens: number) => tokens >= 10_000) }]);
});

test.for([1e17, 1e300, 10.5, -3, '1e999'])(
  'a server that counts %s tokens has told nothing: the request is counted by its length',
  async (prompt) => {
    let usage = `{"prompt_tokens":${prompt},"completion_tokens":2}`;
    await using far = await server((_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":${usage}}`);
    });
    await using t = await bootModels({ models: providersAt(far.url), budget: { day: { tokens: 20_000 } } }, [budget]);
    const first = await ask(t);
    expect([told(first), first.message.usage.totalTokens < 1000]).toEqual(['yes', true]);
    usage = '{"prompt_tokens":10,"completion_tokens":2}';
    expect(told(await ask(t))).toBe('yes');
    const { lines } = await call<BudgetStatus>(t, 'budget.status');
    expect(lines.find(({ kind }) => kind === 'day')).toMatchObject({ requests: 2, tokens: { held: 0 } });
    expect((await ledger(t))[1]).toEqual({ how: 'settled', tokens: 12 });
  },
);

test('SPEC 7.10: a request that has no room with the dear model goes to the cheaper one where it fits there', async () => {
  const flat = (usd: number) => ({ input: usd, output: usd, cacheRead: usd, cacheWrite: usd });
  await using far = await server(({ path }, response) => says(response, path[1], { prompt_tokens: 70_000, completion_tokens: 100 }));
  const { a, b } = providersAt(far.url).providers;
  const providers = { a: { ...a, models: [{ id: '1', cost: flat(10) }] }, b: { ...b, models: [{ id: '1', cost: flat(0.01) }] } };
  await using t = await bootModels({ models: { providers }, budget: { day: { usd: 1 }, onLimit: 'downgrade', downgradeTo: 'b/1' } }, [
    budget,
  ]);
  expect(told(await ask(t))).toBe('a'); // 0.70 of 1 dollar; the next needs 0.35 more
  expect(told(await ask(t, { content: 'x'.repeat(140_000) }))).toBe('b');
});

test('a cheaper model that has no room either is not told as a switch', async () => {
  await using far = await server(({ path }, response) => says(response, path[1], { prompt_tokens: 900, completion_tokens: 100 }));
  const limits = { day: { tokens: 1000 }, onLimit: 'downgrade', downgradeTo: 'b/1' };
  await using t = await bootModels({ models: providersAt(far.url), budget: limits }, [budget]);
  const switches: unknown[] = [];
  await t.kernel.run((run) =>
    run.get(Events).watch({}, (event) => {
      if (event.type === 'model_switched') switches.push(event.data);
    }),
  );
  await ask(t);
  expect([told(await ask(t)), switches, far.seen.length]).toEqual(['BUDGET_EXCEEDED', [], 1]);
});
