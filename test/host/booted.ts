import { existsSync } from 'node:fs';
import { boot, type BootOptions } from '../../kernel/host/boot.ts';
import { provisions } from '../../plugins/cli/provisions.ts';
import { takeLock } from '../../kernel/host/lock.ts';
import { Host } from '../../kernel/index.ts';
import type { Folder } from './folder.ts';

/** The whole product in this process, on a free port. */
export async function start(home: Folder, options: Partial<BootOptions> & { show?: (line: string) => void } = {}) {
  const lock = takeLock(home.path, 'gateway');
  if (!lock) throw new Error('the folder is taken');
  const configFile = existsSync(home.at('instar.json5')) ? home.at('instar.json5') : undefined;
  const around = { version: '1', home: home.path, env: { INSTAR_NO_DETECT: '1' }, configFile };
  const { show, ...rest } = options;
  const brought = await provisions({ home: home.path, ...(show && { show }) });
  const gateway = await boot({ ...around, flags: { port: '0' }, lock, ...brought, ...rest });
  const inspect = () => gateway.run((run) => run.get(Host).inspect());
  return { ...gateway, inspect, [Symbol.asyncDispose]: () => gateway.stop('the test is over') };
}
