import { describe, expect, test } from 'vitest';
import gateway from '../../plugins/gateway/index.ts';
import secrets from '../../plugins/secrets/index.ts';
import { bootTest } from '../support/kernel.ts';
import { ask, bearer, gatewayOf } from '../plugins/gateway/wire.ts';

const never = ['', 'undefined', 'null', '[object Object]', '${GATE}', 'GATE'];

describe('S5: where the token of the gateway is missing nobody is let in', () => {
  test.each([
    ['an empty variable', {}, { INSTAR_GATEWAY_TOKEN: '' }],
    ['no variable at all', {}, {}],
  ])('%s: one is made', async (_, auth, env) => {
    await using t = await bootTest([gateway], { gateway: { auth } }, { env });
    const { url, token } = await gatewayOf(t);
    expect(token).toMatch(/^[\w-]{43}$/);
    for (const offered of never) expect((await ask(`${url}/nowhere`, { headers: bearer(offered) })).status).toBe(401);
  });

  test.each([
    ['a reference to what is not set', { source: 'env', id: 'GATE' }, {}],
    ['a reference to what is empty', { source: 'env', id: 'GATE' }, { GATE: '' }],
    ['an empty text', '', {}],
  ])('%s: it does not start', async (_, token, env) => {
    await expect(bootTest([gateway, secrets], { gateway: { auth: { token } } }, { env })).rejects.toThrow(/gateway\.auth\.token/);
  });
});

test('S5: a reload to a token that cannot be had is rejected, and the one before goes on', async () => {
  await using t = await bootTest([gateway, secrets], { gateway: { auth: { token: 'the-right-one' } } });
  const { url } = await gatewayOf(t);
  await expect(t.apply([gateway, secrets], { gateway: { auth: { token: { source: 'env', id: 'GATE' } } } })).rejects.toThrow(/GATE/);
  for (const offered of never) expect((await ask(`${url}/nowhere`, { headers: bearer(offered) })).status).toBe(401);
  expect((await ask(`${url}/nowhere`, { headers: bearer('the-right-one') })).status).toBe(404);
});
