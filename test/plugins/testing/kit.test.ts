import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { definePlugin, defineTool, RegisterTools, text } from '../../../kernel/index.ts';
import { bundle } from '../../../plugins/cli/bundle.ts';
import { allowAll, bundledPlugins, fakeChannel, fakeModel, leakCheck, testKernel } from '../../../plugins/testing/kit.ts';
import { folder } from '../../host/folder.ts';

const dice = definePlugin({
  name: 'dice',
  description: 'test',
  setup(ctx) {
    const roll = defineTool({
      name: 'roll',
      description: 'rolls',
      parameters: { type: 'object', properties: { sides: { type: 'integer', default: 6 } } },
      execute: ({ sides }) => text(`1 of ${sides}`),
    });
    ctx.tap(RegisterTools, (tools) => [...tools, roll]);
  },
});

const config = { agents: { defaults: { model: 'fake/fake' } } };

test('a tool is called as a model would call it, in one line', async () => {
  await using t = await testKernel({ plugins: [dice, allowAll] });
  expect(await t.callTool('roll', { sides: 3 })).toEqual(text('1 of 3'));
  expect(await t.callTool('roll', { sides: 'x' })).toMatchObject({ isError: true, details: { code: 'TOOL_ARGUMENTS' } });
});

test('a scripted model calls a tool in the whole product, and the fake channel hears the answer', async () => {
  const model = fakeModel([{ text: 'Let me see.', calls: [{ name: 'roll', args: { sides: 20 } }] }, 'It is a 1.']);
  const channel = fakeChannel();
  await using t = await testKernel({ plugins: [...(await bundledPlugins()), model, channel, dice], config });
  expect((await channel.ask('roll a d20')).text).toContain('It is a 1.');
  expect(model.requests).toHaveLength(2);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'toolResult', content: [{ type: 'text', text: '1 of 20' }] });
  expect(t.records.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a script may be a function of what the model is asked; one that is at its end says so', async () => {
  const channel = fakeChannel();
  const plugins = await bundledPlugins();
  {
    const echo = fakeModel(({ messages }) => `you said ${JSON.stringify(messages.at(-1)?.content)}`);
    await using _ = await testKernel({ plugins: [...plugins, echo, channel], config });
    expect((await channel.ask('hi', { sessionKey: 'other' })).text).toContain('hi');
    expect(channel.answers.at(-1)).toMatchObject({ sessionKey: 'agent:main:other' });
  }
  await using _ = await testKernel({ plugins: [...plugins, fakeModel([]), channel], config });
  expect((await channel.ask('hi')).meta['error']).toMatchObject({ message: expect.stringContaining('no reply number 1') });
});

test('fakeChannel that is not part of a kernel says so', async () => {
  await expect(fakeChannel().ask('x')).rejects.toMatchObject({ code: 'NOT_LIVE' });
});

test('reload makes a plugin anew, and leaves the others', async () => {
  await using t = await testKernel({ plugins: [dice, allowAll] });
  expect((await t.reload('dice')).built).toEqual([{ plugin: 'dice', why: 'its code changed' }]);
  expect((await t.reload()).built.map(({ plugin }) => plugin)).toEqual(['dice', 'allow-all']);
});

test('a kernel whose plugins cannot live fails as it would in the gateway', async () => {
  const broken = definePlugin({ ...dice, required: true, setup: () => Promise.reject(new Error('no')) });
  await expect(testKernel({ plugins: [broken] })).rejects.toMatchObject({ code: 'SETUP_FAILED' });
});

test('a plugin that imports instar/testing is given the kit of the running process', async () => {
  await using home = await folder({ 'mine/index.ts': "import { testKernel } from 'instar/testing';\nexport default testKernel;" });
  expect((await bundle(home.at('mine/index.ts'))).value).toBe(testKernel);
});

test('leakCheck names what was left behind: timers by file and line, listeners, sockets', async () => {
  using leaks = leakCheck();
  const gone = setTimeout(() => {}, 20);
  expect(await leaks.found()).toEqual([]);
  clearTimeout(gone);
  const timer = setInterval(() => {}, 60_000).unref();
  const listener = () => {};
  process.on('exit', listener);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const found = await leaks.found(0);
  expect(found.toSorted()).toEqual([
    '1 × TCPServerWrap',
    '1 × listener of process "exit"',
    expect.stringMatching(/^1 × timer of .*kit\.test\.ts:\d+$/),
  ]);
  leaks.mark();
  expect(await leaks.found(0)).toEqual([]);
  clearInterval(timer);
  process.off('exit', listener);
  server.close();
});
