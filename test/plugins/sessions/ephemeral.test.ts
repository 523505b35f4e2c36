import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test, vi } from 'vitest';
import agents from '../../../plugins/agents/index.ts';
import { Sessions } from '../../../plugins/sessions/contract.ts';
import { sweepEphemeral } from '../../../plugins/sessions/ephemeral.ts';
import sessions from '../../../plugins/sessions/index.ts';
import { Store } from '../../../plugins/store/contract.ts';
import store from '../../../plugins/store/index.ts';
import { bootTest } from '../../support/kernel.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

test('an ephemeral session goes with its file after its time to live; others stay', async () => {
  await using t = await bootTest([store, agents, sessions]);
  await t.kernel.run(async (run) => {
    const all = run.get(Sessions);
    for (const [key, ephemeral] of [
      ['agent:main:http:1', true],
      ['agent:main:main', false],
    ] as const) {
      await all.ensure(key, { agentId: 'main', ephemeral });
      await (await all.open(key)).append({ role: 'user', content: key, timestamp: 1 });
    }
    const { file } = await all.open('agent:main:http:1');
    const hour = 3_600_000;
    await sweepEphemeral(run.get(Store), all, 24 * hour, log, Date.now() + 23 * hour);
    expect(await all.find('agent:main:http:1')).toBeDefined();
    await sweepEphemeral(run.get(Store), all, 24 * hour, log, Date.now() + 25 * hour);
    expect([await all.find('agent:main:http:1'), existsSync(file)]).toEqual([undefined, false]);
    expect((await all.list()).map(({ key }) => key)).toEqual(['agent:main:main']);
  });
});

test('one that cannot be removed is told of and stays; none is read, and all others go', async () => {
  await using t = await bootTest([store, agents, sessions]);
  await t.kernel.run(async (run) => {
    const all = run.get(Sessions);
    for (const name of ['a', 'b', 'c']) {
      const file = await all.fileOf(await all.ensure(`agent:main:${name}`, { agentId: 'main', ephemeral: true }));
      await mkdir(name === 'a' ? file : dirname(file), { recursive: true });
      if (name === 'b') await writeFile(file, 'no transcript at all');
    }
    const warn = vi.fn<(typeof log)['warn']>();
    await sweepEphemeral(run.get(Store), all, 0, { ...log, warn }, Date.now() + 10);
    expect(await Promise.all(['a', 'b', 'c'].map(async (name) => (await all.find(`agent:main:${name}`)) !== undefined))).toEqual([
      true,
      false,
      false,
    ]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('"agent:main:a" has expired and cannot be removed'), expect.anything()]]);
  });
});

test('a wrong duration names its key and the form', async () => {
  await expect(bootTest([store, agents, sessions], { session: { ephemeralTtl: 'soon' } })).rejects.toThrow(
    /session\.ephemeralTtl: "soon" is no duration; write e\.g\. 30s/,
  );
});
