import { expect, test } from 'vitest';
import { ask, bearer, connect, protocols } from '../plugins/gateway/wire.ts';
import { installation, token } from './installation.ts';

const canary = 'canary-4711-of-a-secret';

test('S15: what a client shows by mistake, or in a request that fails, is in no line of the log', async () => {
  await using at = await installation();
  const chat = `${at.url}/v1/chat/completions`;
  const said = [
    await ask(`${at.url}/?token=${canary}`),
    await ask(`${at.url}/v1/events?access_token=${canary}`, { headers: bearer(token) }),
    await ask(`${at.url}/nowhere`, { headers: bearer(canary) }),
    await ask(`${at.url}/nowhere?key=${canary}`, { headers: bearer(token) }),
    await ask(`${at.url}/ws`, { headers: { 'sec-websocket-protocol': protocols(canary).join(', ') } }),
    await ask(chat, { method: 'POST', headers: bearer(token), body: `{"model": ${canary}` }),
    await ask(chat, {
      method: 'POST',
      headers: { ...bearer(token), cookie: canary },
      body: JSON.stringify({ model: 'instar', messages: canary }),
    }),
  ];
  expect(said.map(({ status }) => status)).toEqual([400, 400, 401, 404, 401, 400, 400]);
  await using peer = await connect(at.url, token);
  for (const method of ['approvals.answer', 'policy.explain', 'secrets.check', 'chat.send', canary])
    await peer.call(method, { id: { canary }, text: [canary], agent: [canary], refs: canary });
  expect(at.test.records.length).toBeGreaterThan(0);
  expect(JSON.stringify(at.test.records)).not.toContain(canary);
  expect(JSON.stringify(at.test.records)).not.toContain(token);
});

test('S15: neither status nor the inspection, the audit or the start’s report tell a secret of the config, but for the page’s address', async () => {
  const providers = { p: { baseUrl: 'https://p.example', apiKey: canary, headers: { 'x-api-key': canary }, models: [{ id: 'm' }] } };
  await using at = await installation({ models: { providers } });
  await using peer = await connect(at.url, token);
  const quiet = [
    'security.audit',
    'plugins.list',
    'agents.overview',
    'agents.show',
    'tools.list',
    'policy.explain',
    'agents.list',
    'sessions.list',
  ];
  for (const method of [...quiet, 'status']) {
    const answer = await peer.call(method);
    expect([method, answer.ok]).toEqual([method, true]);
    expect([method, JSON.stringify(answer).includes(canary)]).toEqual([method, false]);
    if (method !== 'status') expect([method, JSON.stringify(answer).includes(token)]).toEqual([method, false]);
  }
});
