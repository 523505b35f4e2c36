import { expect, test } from 'vitest';
import { Methods } from '../../../plugins/gateway/contract.ts';
import type { Difference, Explanation } from '../../../plugins/policy/contract.ts';
import { bundledPlugins } from '../../../plugins/testing/bundled.ts';
import { fakeChannel } from '../../../plugins/testing/fake-channel.ts';
import { fakeModel } from '../../../plugins/testing/fake-model.ts';
import { bootTest } from '../../support/kernel.ts';

const groups = {
  '-100': { tools: { deny: ['write'] }, toolsBySender: { '42': { allow: ['read'] } } },
  '*': { tools: { allow: ['session_status'] } },
};
const agents = { defaults: { model: 'fake/fake' } };
/** Without the gateway's port and the sandbox. */
const others = ['gateway', 'web', 'openai-http', 'chat'];

const boot = async (config: object = { groups }) => {
  const [channel, model] = [fakeChannel(), fakeModel(({ tools }) => tools.map(({ name }) => name).join(' '))];
  const kernel = await bootTest([...(await bundledPlugins(others)), channel, model], { agents, channels: { fake: config } });
  return { kernel, channel, [Symbol.asyncDispose]: () => kernel[Symbol.asyncDispose]() };
};

const subjects = [
  ['a sender with rules of his own', { group: '-100', senderId: '42' }, ['read'], 'channels.fake.groups["-100"].toolsBySender["42"].allow'],
  [
    'another in that group',
    { group: '-100', senderId: '43' },
    ['read', 'edit', 'session_status'],
    'channels.fake.groups["-100"].tools.deny[0]',
  ],
  ['who cannot be told', { group: '-100' }, ['read', 'edit', 'session_status'], 'channels.fake.groups["-100"].tools.deny[0]'],
  ['any other group', { group: '-7', senderId: '42' }, ['session_status'], 'channels.fake.groups["*"].tools.allow'],
] as const;

test.each(subjects)(
  'SPEC 3.4: in a turn %s has the tools of channel, group and sender, and explain tells the same',
  {
    timeout: 60_000,
  },
  async (_, { group, ...sender }, has, path) => {
    await using at = await boot();
    const subject = { channel: 'fake', sender: 'known', session: 'group', group, ...sender } as const;
    const { text } = await at.channel.ask('what have you?', { subject, sessionKey: `fake:group:${group}` });
    const offered = text.split(' ').toSorted();
    expect(offered).toEqual(expect.arrayContaining([...has]));
    expect(offered).not.toContain('write');
    const told = await at.kernel.kernel.run(async (run) => {
      const explain = (await run.call(Methods, {}))['policy.explain'];
      return explain?.({ channel: 'fake', group, sender: 'known', ...sender }, {} as never, run) as Promise<Explanation>;
    });
    const passed = told.tools.filter(({ state }) => state === 'passed').map(({ tool }) => tool);
    expect(passed.toSorted()).toEqual(offered);
    expect(told.tools.find(({ tool }) => tool === 'write')).toMatchObject({ layer: 'config', path });
  },
);

test('SPEC 3.4: the same sender has his own rules back in a direct chat, and on another channel', { timeout: 60_000 }, async () => {
  await using at = await boot();
  for (const channel of ['fake', 'other']) {
    const where = channel === 'fake' ? {} : { group: '-100' };
    const { text } = await at.channel.ask('what have you?', {
      subject: { channel, sender: 'known', senderId: '42', session: 'direct', ...where },
    });
    expect(text.split(' ')).toEqual(expect.arrayContaining(['read', 'write']));
  }
});

test('S7: rules for a name are a fault of the config, for a name can become another’s', { timeout: 60_000 }, async () => {
  const named = { groups: { g: { toolsBySender: { 'name:Ann': { deny: ['exec'] }, '@ann': {}, '42': {}, 'id:43': {}, 'e164:+49': {} } } } };
  await expect(boot(named)).rejects.toThrow(
    /channels\.fake\.groups\["g"\]\.toolsBySender\["name:Ann"\]: a sender is told by a stable id[^]*"@ann"/,
  );
  await expect(boot({ groups: { g: { toolz: {} } } })).rejects.toThrow(/unknown key "toolz" \(did you mean "tools"\?\)/);
});

test('SPEC 3.6: --diff judges a candidate’s groups too', { timeout: 60_000 }, async () => {
  await using at = await boot();
  const candidate = { agents: { list: [{ id: 'main' }] }, channels: { fake: { groups: {} }, other: { groups } } };
  const told = await at.kernel.kernel.run(async (run) => {
    const diff = (await run.call(Methods, {}))['policy.diff'];
    const whom = { channel: 'fake', group: '-100', sender: 'known', senderId: '42' };
    return diff?.({ candidate, ...whom }, {} as never, run) as Promise<Difference>;
  });
  expect(told.lines.find(({ tool }) => tool === 'write')).toMatchObject({ change: 'gained', agent: 'main' });
});
