import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { host } from '../../kernel/host/entry.ts';
import { provisions } from '../../plugins/cli/provisions.ts';
import { Host, type Plugin } from '../../kernel/index.ts';
import { root, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

const folder = join(root, 'plugins');
const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'index.ts')));
const plugins = await Promise.all(
  names.map(async (name) => ((await import(join(folder, name, 'index.ts'))) as { default: Plugin }).default),
);

async function boot(home: string, file: string) {
  const lock = await host.takeLock(home, 'gateway');
  if (!lock) throw new Error('the lock is taken');
  const env = { INSTAR_NO_DETECT: '1' };
  const brought = { ...(await provisions({ home })), env: () => env };
  return host.boot({ version: '0', home, configFile: file, flags: { port: '0' }, lock, ...brought });
}

test.for(plugins.filter((plugin) => !plugin.required).map((plugin) => plugin.name))(
  'SPEC 16.1: without %s the rest starts, whatever keys the config has',
  async (name) => {
    await using mock = await startMock();
    using place = tempHome();
    const config = withMock(mock.url, place.home, { tools: { exec: { allow: ['date'] } }, session: {} });
    writeFileSync(place.file, JSON.stringify({ ...config, plugins: { entries: { [name]: { enabled: false } } } }));
    const gateway = await boot(place.home, place.file);
    const { instances, leftOut } = await gateway.run((run) => run.get(Host).inspect());
    await gateway.stop('the test is over');
    expect(leftOut).toEqual([]);
    expect(instances.map((one) => one.plugin).toSorted()).toEqual(names.filter((one) => one !== name).toSorted());
  },
);

test.for(plugins.filter((plugin) => plugin.required).map((plugin) => plugin.name))(
  'SPEC 16.1: %s is required, and switching it off is refused with one line',
  async (name) => {
    using place = tempHome(`{ plugins: { entries: { ${JSON.stringify(name)}: { enabled: false } } } }`);
    await expect(boot(place.home, place.file)).rejects.toMatchObject({
      code: 'BOOT_FAILED',
      message: expect.stringMatching(new RegExp(`^\\S+instar\\.json5:1:\\d+ plugins\\.entries\\.\\S+ .*required`)),
    });
  },
);
