import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

const models = ['mock', 'infile', 'vault', 'variable'];
const secrets = {
  env: 'env-secret-4711',
  file: 'file-secret-4712',
  exec: 'exec-secret-4713',
  token: 'gate-secret-4714',
  variable: 'vars-secret-4715',
};

test('SPEC 4.7: a secret is used, and stands in no log, transcript, store, inspect, config or page of ours', async () => {
  await using mock = await startMock();
  using place = tempHome();
  const { home } = place;
  const config = withMock(mock.url, home) as { models: { providers: Record<string, object> }; gateway: object };
  const { mock: block } = config.models.providers;
  const provider = (apiKey: unknown) => ({ ...block, apiKey });
  writeFileSync(join(home, 'secrets.json'), JSON.stringify({ key: secrets.file }), { mode: 0o600 });
  writeFileSync(join(home, 'vault.sh'), `#!/bin/sh\necho '{"values":{"k":"${secrets.exec}"}}'\n`, { mode: 0o700 });
  const vault = { source: 'exec', command: join(home, 'vault.sh') };
  const text = {
    ...config,
    gateway: { ...config.gateway, auth: { token: { source: 'env', provider: 'default', id: 'GATE' } } },
    agents: { list: models.map((id) => ({ id, model: `${id}/m`, workspace: join(home, 'ws') })) },
    secrets: { providers: { f: { source: 'file', path: join(home, 'secrets.json') }, vault } },
    models: {
      providers: {
        mock: provider({ source: 'env', provider: 'default', id: 'MY_OWN' }),
        infile: provider({ source: 'file', provider: 'f', id: '/key' }),
        vault: provider({ source: 'exec', provider: 'vault', id: 'k' }),
        variable: provider('${VARIABLE}'),
        missing: provider({ source: 'env', id: 'NOT_SET_ANYWHERE' }),
      },
    },
  };
  writeFileSync(place.file, JSON.stringify(text));
  const env = { MY_OWN: secrets.env, GATE: secrets.token, VARIABLE: secrets.variable };
  await using gateway = await startGateway(home, [], env);

  const body = (agent: string) => JSON.stringify({ model: `instar/${agent}`, messages: [{ role: 'user', content: 'hi' }] });
  const headers = { authorization: `Bearer ${secrets.token}`, 'content-type': 'application/json' };
  const ask = (agent: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body: body(agent) }).then((r) => r.text());
  for (const agent of models) expect(await ask(agent)).toContain('echo: hi');
  expect(mock.requests.map((request) => request.headers.authorization)).toEqual(
    [secrets.env, secrets.file, secrets.exec, secrets.variable].map((secret) => `Bearer ${secret}`),
  );
  const missing = await instar(home, ['agent', '--message', 'hi', '--model', 'missing/m'], env);
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toMatch(/models\.providers\.missing\.apiKey .*NOT_SET_ANYWHERE is not set/);

  const said: string[] = [missing.stderr, gateway.out.stdout, gateway.out.stderr];
  const asked = [
    ['plugins', 'inspect', 'models'],
    ['config', 'get', 'models.providers'],
    ['status', '--json'],
    ['secrets'],
    ['logs', '-n', '500'],
  ];
  for (const { stdout, stderr } of await Promise.all(asked.map((args) => instar(home, args, env)))) {
    expect(stdout).not.toBe('');
    said.push(stdout, stderr);
  }
  gateway.child.kill('SIGTERM');
  await gateway.ended;
  const files = execFileSync('grep', ['-rlaE', 'secret-471[0-9]', home], { encoding: 'utf8' }).trim().split('\n');
  expect(files.toSorted()).toEqual([join(home, 'secrets.json'), join(home, 'vault.sh')]);
  expect(said.join('\n')).not.toMatch(/secret-471[0-9]/);
  expect(readFileSync(place.file, 'utf8')).toBe(JSON.stringify(text));
});
