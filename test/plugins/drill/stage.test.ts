import { expect, test } from 'vitest';
import type { Standing } from '../../../plugins/auth-profiles/contract.ts';
import { startMock } from '../../../plugins/drill/mock-server.ts';
import { castOf, isStageable, keyOf, stagedConfig, waitNotice } from '../../../plugins/drill/stage.ts';
import type { Plan } from '../../../plugins/failover/contract.ts';

const standing = (id: string, facts: Partial<Standing> = {}): Standing => ({
  profile: { id, provider: id.split(':')[0] ?? '', mode: 'api_key', origin: 'config' },
  usable: false,
  errors: 0,
  why: 'test',
  ...facts,
});
const planOf = (candidates: Plan['candidates']): Plan => ({ agentId: 'main', wanted: { model: 'a/m', why: 'test' }, candidates });

test('on stage are the profiles that could be used, also after a rest, the models that have one, and the user’s patience', async () => {
  await using mock = await startMock();
  const plan = planOf([
    { model: 'a/m', why: '', profiles: [standing('a:nokey'), standing('a:good', { usable: true }), standing('a:rests', { readyAt: 1 })] },
    { model: 'c/m', why: '', profiles: [standing('c:nobody-signed-in')] },
    { model: 'd/m', why: '', problem: 'left out', profiles: [] },
    { model: 'b/m', why: '', profiles: [standing('b:one', { usable: true })] },
  ]);
  expect(castOf(plan).map(({ model }) => model)).toEqual(['a/m', 'b/m']);
  expect(stagedConfig(plan, mock, { waitSeconds: 0 })).toMatchObject({
    agents: { list: [{ id: 'main', model: { primary: 'a/m', fallbacks: ['b/m'] } }] },
    models: { providers: { a: {}, b: {} } },
    auth: {
      profiles: { 'a:good': { apiKey: keyOf('a:good') }, 'a:rests': {}, 'b:one': {} },
      order: { a: ['a:good', 'a:rests'], b: ['b:one'] },
    },
    failover: { waitSeconds: 0 },
  });
  expect(JSON.stringify(stagedConfig(plan, mock, {}))).not.toMatch(/nokey|nobody|c\/m|d\/m|waitSeconds/);
  expect(isStageable(planOf([{ model: 'a/m', why: '', profiles: [standing('a:nokey')] }]))).toBe(false);
});

test.for<readonly [unknown, RegExp | undefined]>([
  [undefined, undefined],
  [15, undefined],
  [30, /may wait up to 30 s/],
  [600, /may wait up to 600 s/],
])('with waitSeconds of %s a drill that will be silent says so first: %s', ([waitSeconds, words]) => {
  expect(waitNotice({ waitSeconds })).toEqual(words && expect.stringMatching(words));
});
