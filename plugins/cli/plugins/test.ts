import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { KernelError } from '../../../kernel/index.ts';
import type { PluginDetail } from '../../plugins-admin/contract.ts';
import { exitCodes, type CommandHost, type RunCommand } from '../contract.ts';
import { oneName } from './one-name.ts';

/** `instar plugins test NAME`: runs the plugin's own tests by Node's test runner; `instar` is this installation there. */
export const run: RunCommand = async (argv, host) => {
  const { positionals } = parseArgs({ args: [...argv], allowPositionals: true });
  const name = oneName(positionals);
  const folder = await folderOf(name, host);
  const tests = globSync('**/*.test.{ts,js}', { cwd: folder, exclude: ['**/node_modules/**'] });
  if (tests.length === 0) throw new KernelError('PLUGIN_NO_TESTS', `${folder} holds no *.test.ts; write one, or see "instar plugins new"`);
  const register = new URL('./register.ts', import.meta.url);
  const child = spawn(process.execPath, ['--import', register.href, '--test', ...tests], { cwd: folder, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? exitCodes.failed;
};

/** Where users' plugins usually lie, else wherever the config names one. */
async function folderOf(name: string, host: CommandHost): Promise<string> {
  const usual = join(host.home, 'plugins', name);
  if (/^[a-z][a-z0-9-]*$/.test(name) && existsSync(usual)) return usual;
  const { live } = await host.ask<PluginDetail>('plugins.inspect', { name });
  if (live && live.source !== 'bundled') return dirname(live.source);
  throw new KernelError('PLUGIN_NO_TESTS', `plugin "${name}" is not one of yours: its tests are not part of this installation`);
}
