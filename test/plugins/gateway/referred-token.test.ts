import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Gateway } from '../../../plugins/gateway/contract.ts';
import gateway from '../../../plugins/gateway/index.ts';
import secrets from '../../../plugins/secrets/index.ts';
import { testKernel } from '../../support/kernel.ts';

const token = { source: 'file', id: 'value' };
const statusFor = async (url: string, bearer: string) =>
  (await fetch(`${url}/nothing`, { headers: { authorization: `Bearer ${bearer}` } })).status;

test('SPEC 4.7: the gateway’s token may be a reference; it is had for every generation, and a candidate without it is rejected', async () => {
  await using t = await testKernel();
  const file = join(t.home, 'secret');
  const config = { gateway: { auth: { token } }, secrets: { providers: { default: { source: 'file', path: file, mode: 'singleValue' } } } };
  await expect(t.apply([gateway, secrets], config)).rejects.toMatchObject({
    message: expect.stringMatching(/gateway\.auth\.token: .*secret .*is not there/),
  });

  writeFileSync(file, 'first-secret', { mode: 0o600 });
  await t.apply([gateway, secrets], config);
  const { url } = await t.kernel.run((run) => run.get(Gateway));
  expect([await statusFor(url, 'first-secret'), await statusFor(url, ''), await statusFor(url, 'second-secret')]).toEqual([404, 401, 401]);

  writeFileSync(file, 'second-secret');
  await t.reload('secrets');
  await expect.poll(() => statusFor(url, 'second-secret')).toBe(404);
  expect(await statusFor(url, 'first-secret')).toBe(401);
});

test('without the plugin that resolves references, a gateway whose token is one does not start', async () => {
  await using t = await testKernel();
  await expect(t.apply([gateway], { gateway: { auth: { token } } })).rejects.toMatchObject({
    message: expect.stringContaining('plugin "secrets"'),
  });
});
