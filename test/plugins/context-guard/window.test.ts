import { expect, test } from 'vitest';
import { definePlugin } from '../../../kernel/index.ts';
import contextGuard from '../../../plugins/context-guard/index.ts';
import { smallness } from '../../../plugins/context-guard/window.ts';
import { Events, type LiveEvent } from '../../../plugins/events/contract.ts';
import events from '../../../plugins/events/index.ts';
import { AdmitRequest, type Model } from '../../../plugins/models/contract.ts';
import { bootTest } from '../../support/kernel.ts';

const model = (contextWindow: number, id = 'm'): Model => ({
  provider: 'p',
  id,
  name: id,
  api: 'x',
  baseUrl: 'x:',
  contextWindow,
  maxTokens: 100,
  input: ['text'],
  reasoning: false,
});

test.each([
  [1, 'refused'],
  [15_999, 'refused'],
  [16_000, 'warned of'],
  [31_999, 'warned of'],
  [32_000, 'let be'],
  [200_000, 'let be'],
  [0, 'let be'],
  [-1, 'let be'],
  [Number.NaN, 'let be'],
])('SPEC 7.6: a window of %d tokens is %s', (window, due) => {
  const small = smallness(model(window));
  expect(small ? (small.isTooSmall ? 'refused' : 'warned of') : 'let be').toBe(due);
  if (small) expect(small.message).toMatch(/^p\/m .*models\.providers\.p\.models$/);
});

test('SPEC 7.6: a request to a model that is too small is refused; of a narrow one is told once, over reloads too', async () => {
  const seen: LiveEvent[] = [];
  const watcher = definePlugin({
    name: 'watcher',
    description: 'sees events',
    needs: { events: Events },
    setup: (ctx) => ctx.onLive(() => void ctx.needs.events.watch({}, (event) => void seen.push(event))),
  });
  await using t = await bootTest([events, contextGuard, watcher]);
  const admit = (one: Model) =>
    t.kernel.run((run) => run.call(AdmitRequest, { model: one, system: '', messages: [], tools: [], signal: run.signal }));
  expect(await admit(model(8_000))).toMatchObject({ code: 'CONTEXT_WINDOW_SMALL', message: expect.stringContaining('8000 tokens') });
  expect([await admit(model(20_000)), await admit(model(20_000)), await admit(model(20_000, 'n'))]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const again = { ...contextGuard, description: 'made anew' };
  await t.apply([events, again, watcher]);
  expect(await admit(model(20_000))).toBeUndefined();
  const warnings = seen.filter(({ type }) => type === 'context_window_warning');
  expect(warnings.map(({ data }) => data['model'])).toEqual(['p/m', 'p/n']);
});
