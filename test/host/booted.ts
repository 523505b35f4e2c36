import { existsSync } from 'node:fs';
import { boot } from '../../kernel/host/boot.ts';
import type { BootOptions } from '../../plugins/cli/contract.ts';
import { faultDesk } from '../../plugins/cli/fault-desk.ts';
import { bootOrLastGood } from '../../plugins/cli/last-good.ts';
import { provisions } from '../../plugins/cli/provisions.ts';
import { takeLock } from '../../kernel/host/lock.ts';
import { Host } from '../../kernel/index.ts';
import type { Folder } from './folder.ts';

/** The whole product in this process, on a free port. */
export async function start(home: Folder, options: Partial<BootOptions> = {}) {
  const lock = takeLock(home.path, 'gateway');
  if (!lock) throw new Error('the folder is taken');
  const configFile = existsSync(home.at('instar.json5')) ? home.at('instar.json5') : undefined;
  const all = { version: '1', home: home.path, env: { INSTAR_NO_DETECT: '1' }, configFile, flags: { port: '0' }, lock, ...options };
  const desk = faultDesk();
  const brought = desk.around({ ...(await provisions(all)), env: () => all.env });
  const gateway = await bootOrLastGood(all, brought.log, (read) => boot({ ...all, ...brought, ...(read && { read }) }));
  desk.open(gateway.run);
  const inspect = () => gateway.run((run) => run.get(Host).inspect());
  return { ...gateway, inspect, [Symbol.asyncDispose]: () => gateway.stop('the test is over') };
}
