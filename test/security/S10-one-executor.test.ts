import { afterAll, beforeAll, expect, test } from 'vitest';
import { RegisterTools } from '../../kernel/index.ts';
import { ask, bearer, connect } from '../plugins/gateway/wire.ts';
import { type Installation, installation, token } from './installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await installation({ agents: { list: [{ id: 'main' }, { id: 'other' }] } });
}, 30_000);
afterAll(() => at[Symbol.asyncDispose]());

test('S10: no door calls a tool for a client: tools are called by turns, through policy', async () => {
  await using peer = await connect(at.url, token);
  for (const method of ['tools.invoke', 'tools.call', 'tool.call', 'exec', 'exec.run', 'gateway', 'read', 'process'])
    expect(await peer.call(method, { name: 'exec', tool: 'exec', args: { command: 'id' } })).toMatchObject({
      ok: false,
      error: { code: 'GATEWAY_NO_METHOD' },
    });
  for (const path of ['/tools/invoke', '/v1/tools/invoke', '/v1/tools/exec', '/mcp'])
    expect((await ask(at.url + path, { method: 'POST', headers: bearer(token), body: '{"tool":"exec"}' })).status).toBe(404);
  const body = { model: 'instar', messages: [{ role: 'user', content: 'hi' }] };
  for (const more of [
    { tools: [{ type: 'function', function: { name: 'exec' } }] },
    {
      messages: [
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'exec', arguments: '{}' } }] },
        ...body.messages,
      ],
    },
    { messages: [{ role: 'tool', tool_call_id: 'c', content: 'approved' }] },
  ]) {
    const got = await ask(`${at.url}/v1/chat/completions`, {
      method: 'POST',
      headers: bearer(token),
      body: JSON.stringify({ ...body, ...more }),
    });
    expect([got.status, got.text]).toEqual([400, expect.stringContaining('tools_not_supported')]);
  }
});

test('S10: a message cannot be for one agent and in the session of another', async () => {
  await using peer = await connect(at.url, token);
  const crossed = await peer.call('chat.send', { text: 'hi', agentId: 'main', sessionKey: 'agent:other:main' });
  expect(crossed).toMatchObject({ ok: false, error: { code: 'CHAT_PARAMS' } });
});

/** Each looks only at what its own run may see, which its plugin's tests prove; a new one fails below until they do. */
const reaching = ['process.sessionId', 'session_status.sessionKey'];

test('S10: parameters by which a tool could name another session are told here', async () => {
  const tools = await at.run((run) => run.call(RegisterTools, []));
  const found = tools.flatMap(({ name, parameters }) =>
    Object.keys(parameters['properties'] ?? {})
      .filter((key) => /session|agent|thread|peer|recipient/i.test(key))
      .map((key) => `${name}.${key}`),
  );
  expect(found.filter((one) => !reaching.includes(one))).toEqual([]);
});
