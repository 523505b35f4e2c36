import { expect, test } from 'vitest';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { AdmitMessage, type Incoming } from '../../../plugins/turns/contract.ts';
import { bundledPlugins, fakeChannel, fakeModel, testKernel } from '../../../plugins/testing/kit.ts';
import { plugin } from '../../support/kernel.ts';

const said = ({ content }: Incoming) => (typeof content === 'string' ? content : '');

/** Hides `hunter2`, refuses `forbidden`; each tap is told of what the one before left. */
const filters = [
  plugin('hides', (ctx) => ctx.tap(AdmitMessage, (message) => ({ ...message, content: said(message).replace('hunter2', '[hidden]') }))),
  plugin('refuses', (ctx) =>
    ctx.tap(AdmitMessage, (message, { subject }) =>
      said(message).includes('forbidden') ? { ...message, refused: `not from ${subject.sender} of ${subject.agent}` } : message,
    ),
  ),
];

async function scene() {
  const model = fakeModel(() => 'yes');
  const channel = fakeChannel();
  const config = { agents: { defaults: { model: 'fake/fake' } } };
  const t = await testKernel({ plugins: [...(await bundledPlugins()), model, channel, ...filters], config });
  const session = (key: string) =>
    t.kernel.run(async (run) => {
      const record = await run.get(Sessions).find(key);
      return { title: record?.title, entries: record ? (await run.get(Sessions).open(key)).entries : [] };
    });
  return { t, model, channel, session, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

test('a rewritten message is all that transcript, title and model see', async () => {
  await using s = await scene();
  await s.channel.ask('the hunter2 is out');
  const seen = JSON.stringify([s.model.requests, await s.session('agent:main:main')]);
  expect(seen).toContain('the [hidden] is out');
  expect(seen).not.toContain('hunter2');
});

test('a refused message reaches no model and no transcript, and its sender is told why', async () => {
  await using s = await scene();
  const { text, meta } = await s.channel.ask('a forbidden thing');
  expect(text).toBe('not from owner of main');
  expect(meta).toMatchObject({ stopReason: 'refused', error: { code: 'MESSAGE_REFUSED' } });
  expect([s.model.requests, (await s.session('agent:main:main')).entries]).toEqual([[], []]);
  expect((await s.channel.ask('hello')).text).toBe('yes');
});

test('a history that a stateless client brings is no way around', async () => {
  await using s = await scene();
  const past = (content: string) => ({ role: 'user', content, timestamp: 1 }) as const;
  await s.channel.ask('go on', { ephemeral: true, sessionKey: 'http:1', history: [past('a hunter2'), past('forbidden')] });
  const told = s.model.requests[0]?.messages.map(({ content }) => content);
  expect(told).toEqual(['a [hidden]', '[a message that was refused: not from owner of main]', expect.stringContaining('go on')]);
});

test('a filter that throws fails the turn: nothing passes unseen', async () => {
  await using s = await scene();
  const broken = plugin('broken', (ctx) => ctx.tap(AdmitMessage, () => Promise.reject(new Error('no idea'))));
  await s.t.apply([...(await bundledPlugins()), s.model, s.channel, broken]);
  expect((await s.channel.ask('hello')).text).toContain('no idea');
  expect(s.model.requests).toEqual([]);
});
