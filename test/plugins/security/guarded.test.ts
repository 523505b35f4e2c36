import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Method, Methods } from '../../../plugins/gateway/contract.ts';
import type { Audit } from '../../../plugins/security/contract.ts';
import { bundled } from '../../support/bundled.ts';
import { bootTest } from '../../support/kernel.ts';

const token = 'kX2v9QmT4bW7cR1zL6pD8sN3';

/** What is found in a project with a plugin in it, and the state folder below it. */
async function found(defaults: (top: string) => object) {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'instar-audit-')));
  await using _ = { [Symbol.asyncDispose]: () => rm(top, { recursive: true, force: true }) };
  for (const folder of ['state/workspace', 'state/agents', 'plugins/mine', 'other'])
    await mkdir(join(top, folder), { recursive: true, mode: 0o700 });
  await writeFile(join(top, 'plugins/mine/index.ts'), '', { mode: 0o600 });
  const sources = { roots: [join(top, 'plugins')] };
  const config = { gateway: { auth: { token } }, agents: { defaults: defaults(top) } };
  await using t = await bootTest(await bundled(), config, { home: join(top, 'state'), sources });
  const audit = (await t.kernel.run(async (run) =>
    (await run.call(Methods, {}))['security.audit']?.({}, {} as Parameters<Method>[1], run),
  )) as Audit;
  return audit.findings.map(({ code, message }) => `${code}: ${message.replaceAll(top, 'TOP')}`);
}

test('a workspace that holds code of the gateway is told of: a command there can change it', async () => {
  expect(await found((top) => ({ workspace: join(top, 'plugins/mine') }))).toContain(
    'workspace-guarded: the workspace of agent "main" lies in TOP/plugins, config or code of the gateway: a command that runs there can change it',
  );
  expect(await found((top) => ({ workspace: join(top, 'other') }))).toEqual([]);
  expect(await found((top) => ({ workspace: top }))).toContain(
    'workspace-guarded: the workspace of agent "main" holds TOP/plugins, config or code of the gateway: a command that runs there can change it',
  );
});

test.each([
  ['holds the state folder', '', /which holds the state folder/],
  ['is the state folder', 'state', /which holds the state folder/],
  ['is part of it', 'state/agents', /which is part of the state folder/],
  ['is a workspace', 'state/workspace', undefined],
  ['lies beside it', 'other', undefined],
])('a sandbox whose readable folder %s', async (_, folder, message) => {
  const findings = await found((top) => ({ sandbox: { readable: [join(top, folder)] } }));
  expect(findings.filter((one) => one.startsWith('sandbox-readable'))).toEqual(message ? [expect.stringMatching(message)] : []);
});
