import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { given } from '../../kernel/index.ts';
import { unfit } from '../../plugins/sandbox/folders.ts';
import { Turn } from '../../plugins/turns/contract.ts';
import { textOf, turnIn } from '../support/toolbench.ts';
import { installation } from './installation.ts';

const subject = { agent: 'main', sender: 'owner', session: 'main', channel: 'chat' } as const;

test('S11: programs and secret files that the config names in a workspace are out of reach of a model', async () => {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'instar-programs-')));
  await using _ = { [Symbol.asyncDispose]: () => rm(top, { recursive: true, force: true }) };
  const files = { 'keys.json': '{"a":"canary"}', 'ask.sh': '', 'part.sh': '', 'server.mjs': '', 'bin/server': '', 'data/list.txt': '' };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(top, name)), { recursive: true });
    await writeFile(join(top, name), text);
  }
  const config = {
    tools: { profile: 'full', exec: { allowlist: ['echo', 'cat'] } },
    secrets: {
      providers: {
        file: { source: 'file', path: join(top, 'keys.json') },
        program: { source: 'exec', command: join(top, 'ask.sh'), args: [join(top, 'part.sh')] },
      },
    },
    mcp: {
      servers: {
        script: { command: 'node', args: ['server.mjs', 'data'], cwd: top },
        program: { command: './bin/server', cwd: top },
      },
    },
  };
  await using at = await installation(config);
  await at.test.kernel.run(
    async (run) => {
      const call = async (name: string, args: object) => textOf(await run.callTool({ id: 'c', name, args }));
      for (const told of [await call('read', { path: 'keys.json' }), await call('exec', { command: 'cat < keys.json' })]) {
        expect(told).toContain('tools may not touch');
        expect(told).not.toContain('canary');
      }
      for (const path of ['keys.json', 'ask.sh', 'part.sh', 'server.mjs', 'bin/server']) {
        expect([path, await call('write', { path, content: 'evil' })]).toEqual([
          path,
          expect.stringMatching(/may not touch|not change it/),
        ]);
        expect([path, await call('exec', { command: `echo evil > ${path}` })]).toEqual([
          path,
          expect.stringMatching(/may not touch|not change it/),
        ]);
      }
      expect(await call('write', { path: 'data/list.txt', content: 'mine' })).toMatch(/^Replaced/);
      expect(await unfit(top, true, run)).toMatch(/by which the gateway finds its config or what it runs/);
    },
    { subject, values: [given(Turn, turnIn(top))] },
  );
  expect(await readFile(join(top, 'server.mjs'), 'utf8')).toBe('');
});
