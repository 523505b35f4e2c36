import { vi } from 'vitest';
import { host } from '../../../../kernel/host/entry.ts';
import { run } from '../../../../plugins/cli/config/command.ts';
import { type CommandHost, exitCodes } from '../../../../plugins/cli/contract.ts';
import { errorLine } from '../../../../plugins/cli/exit.ts';
import { readConfig } from '../../../../plugins/cli/text/config-text.ts';
import type { Folder } from '../../../host/folder.ts';
import type { Ended } from '../../../host/instar.ts';

/** `instar config …` in this process, as main.ts calls it. */
export async function config(home: Folder, argv: readonly string[], more: Partial<CommandHost> = {}): Promise<Ended> {
  const said = { out: '', err: '' };
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void (said.out += `${line}\n`));
  const error = vi.spyOn(console, 'error').mockImplementation((line: string) => void (said.err += `${line}\n`));
  const unused = () => Promise.reject(new Error('not asked for here'));
  const read: CommandHost['readConfig'] = async (...of) => readConfig(...of);
  const env = { INSTAR_NO_DETECT: '1', SET: 'from the environment' };
  const facts = { version: '1', home: home.path, env, configFile: home.at('instar.json5'), commands: new Map() };
  try {
    const code = await run(argv, { ...host, ...facts, boot: unused, ask: unused, readConfig: read, ...more });
    return { code, ...said };
  } catch (cause) {
    const code = (cause as { readonly code?: string }).code === 'CLI_USAGE' ? exitCodes.usage : exitCodes.failed;
    return { code, out: said.out, err: `${errorLine(cause as Error)}\n` };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}
