import { expect, test } from 'vitest';
import chat from '../../plugins/chat/index.ts';
import events from '../../plugins/events/index.ts';
import gateway from '../../plugins/gateway/index.ts';
import { ask, bearer, connect, gatewayOf, protocols } from '../plugins/gateway/wire.ts';
import { bootTest } from '../support/kernel.ts';
import { scriptedTurns } from '../support/scripted-turns.ts';

test('S6: a token that was replaced ends what was opened with it: requests, sockets, streams', async () => {
  const plugins = [gateway, events, scriptedTurns().plugin, chat];
  const config = (token: string) => ({ gateway: { auth: { token } } });
  await using t = await bootTest(plugins, config('the-older-token'));
  const { url } = await gatewayOf(t);
  await using peer = await connect(url, 'the-older-token');
  const stream = await fetch(`${url}/v1/events`, { headers: bearer('the-older-token') });
  expect(stream.status).toBe(200);
  const read = stream.text(); // settles at the end of the stream
  await t.apply(plugins, config('the-newer-token'));
  expect(await peer.closed).toEqual({ code: 4001, reason: 'the token was replaced' });
  expect(await read).toContain('generation_swapped');
  expect((await ask(`${url}/v1/events`, { headers: bearer('the-older-token') })).status).toBe(401);
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
  };
  const older = { ...upgrade, 'sec-websocket-protocol': protocols('the-older-token').join(', ') };
  expect((await ask(`${url}/ws`, { headers: older })).status).toBe(401);
  await using again = await connect(url, 'the-newer-token');
  expect(await again.call('agents.list')).toMatchObject({ ok: true });
});
