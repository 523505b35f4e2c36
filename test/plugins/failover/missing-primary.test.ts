import { afterEach, expect, test } from 'vitest';
import type { Plan, ProbeLine, ModelLine } from '../../../plugins/failover/contract.ts';
import { Events } from '../../../plugins/events/contract.ts';
import { AskModel, attemptOf, type ModelAdapter, Models } from '../../../plugins/models/contract.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { plugin } from '../../support/kernel.ts';
import { ask, bootModels, call, modelPlugins, providersAt, says, server, told } from '../../support/model-servers.ts';
import { product } from '../runtime-embedded/product.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

/** Providers a and b at one server; the model that the config names first is not to be had. */
async function place(primary: string, fallbacks: readonly string[], apiKey?: string) {
  const model = await server(({ path }, response) => says(response, `${path[1]} answers`));
  open.push(model);
  const { a, b } = providersAt(model.url).providers;
  const config = {
    agents: { defaults: { model: { primary, fallbacks } }, list: [{ id: 'main' }] },
    models: { providers: { a: { ...a, ...(apiKey && { apiKey }) }, b } },
  };
  const t = await bootModels(config);
  open.push(t);
  const switches: object[] = [];
  await t.kernel.run((run) => run.get(Events).watch({}, ({ type, data }) => void (type === 'model_switched' && switches.push(data ?? {}))));
  return { t, model, switches, config };
}

test('SPEC 7.4: where the first model of the config cannot be had the next answers, which is told, and so is the way back', async () => {
  const p = await place('a/typo', ['gone/x', 'b/1']);
  expect([told(await ask(p.t)), told(await ask(p.t))]).toEqual(['b answers', 'b answers']);
  expect(p.switches).toEqual([{ from: 'a/typo', to: 'b/1', isBack: false, reason: 'model_not_found' }]);
  const { a, b } = providersAt(p.model.url).providers;
  await p.t.apply(modelPlugins, { ...p.config, models: { providers: { a: { ...a, models: [{ id: 'typo' }] }, b } } });
  expect(told(await ask(p.t))).toBe('a answers');
  expect(p.switches[1]).toMatchObject({ from: 'b/1', to: 'a/typo', isBack: true });
});

test('explain, probe and list show it with what is wrong, and what answers instead', async () => {
  const { t } = await place('a/typo', ['b/1']);
  const plan = await call<Plan>(t, 'models.explain');
  expect(plan).toMatchObject({
    wanted: { model: 'a/typo', why: expect.stringMatching(/^named in agents\.defaults\.model/) },
    next: { model: 'b/1', why: expect.stringMatching(/^fallback 1 of/) },
    candidates: [
      { model: 'a/typo', problem: expect.stringContaining('models.providers.a.models lists no "typo"'), profiles: [] },
      { model: 'b/1' },
    ],
  });
  const { probes } = await call<{ probes: readonly ProbeLine[] }>(t, 'models.probe');
  expect(probes.map(({ model, ok }) => [model, ok])).toEqual([
    ['a/typo', false],
    ['b/1', true],
  ]);
  const { models } = await call<{ models: readonly ModelLine[] }>(t, 'models.list');
  expect(models.find(({ model }) => model === 'b/1')?.usedBy).toEqual(['main (fallback 1)']);
});

test('where nothing of the chain can be had the error is that of the first; who asks by name gets that one or none', async () => {
  const { t } = await place('a/typo', ['gone/x']);
  await expect(ask(t)).rejects.toMatchObject({ code: 'MODEL_UNKNOWN', message: expect.stringContaining('"a/typo"') });
  const other = await place('b/1', ['a/1']);
  await expect(other.t.kernel.run((run) => run.get(Models).choose(run, 'main', 'a/typo'))).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
});

test('a turn goes on with what stands in for it, and knows what is missing', async () => {
  let turn: Turn | undefined;
  const looks = plugin('looks', (ctx) => ctx.tap(AskModel, (_ask, run) => void (turn = run.find(Turn)), -100));
  const adapter: ModelAdapter['complete'] = async ({ model }) => attemptOf(model, { content: [{ type: 'text', text: 'here' }] });
  await using p = await product([], {
    adapter,
    plugins: [looks],
    config: { agents: { defaults: { model: { primary: 'nobody/x', fallbacks: ['own/own'] } }, list: [{ id: 'main' }] } },
  });
  expect(await p.channel.ask('go')).toMatchObject({ meta: { stopReason: 'stop' } });
  expect(turn?.modelMissing).toMatchObject({ ref: 'nobody/x' });
  expect(p.events.filter(({ type }) => type === 'model_switched').map(({ data }) => data)).toEqual([
    { from: 'nobody/x', to: 'own/own', isBack: false, reason: 'model_not_found' },
  ]);
});
