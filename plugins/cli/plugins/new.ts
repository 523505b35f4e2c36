import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KernelError, nearest } from '../../../kernel/index.ts';
import type { Reloaded } from '../../plugins-admin/contract.ts';
import { type CommandHost, exitCodes, misused, type RunCommand } from '../contract.ts';
import { errorLine } from '../exit.ts';
import { ownRoot } from '../own-names.ts';
import { findGateway } from '../reach.ts';
import { bold } from '../contract/terminal.ts';
import { oneName } from './one-name.ts';
import { isKind, kinds, type Kind, scaffold } from './scaffold.ts';

/** `instar plugins new NAME`: a plugin with its test, live at once where a gateway runs. */
export const run: RunCommand = async (argv, host) => {
  const options = { kind: { type: 'string', default: 'tool' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const name = nameFor(oneName(positionals));
  const kind = kindOf(values.kind);
  const folder = join(host.home, 'plugins', name);
  const files = await scaffold(folder, name, kind);
  console.log(`wrote ${folder}: ${files.join(', ')}`);
  const code = await makeLive(name, host);
  console.log(nextSteps(name, kind));
  return code;
};

/** A name that a plugin of the user's may have. */
export function nameFor(name: string): string {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(name))
    throw new KernelError('PLUGIN_NAME', `"${name}" is no plugin name: a-z first, then a-z, 0-9 and -`);
  if (!existsSync(join(ownRoot, 'plugins', name))) return name;
  throw new KernelError('PLUGIN_EXISTS', `Instar brings a plugin "${name}" itself; choose another name`);
}

function kindOf(kind: string): Kind {
  if (isKind(kind)) return kind;
  const near = nearest(kind, kinds);
  throw misused(`there is no kind "${kind}"; ${near ? `did you mean "${near}"?` : `there are ${kinds.join(', ')}`}`);
}

/** Tells a running gateway of it; 0 where none runs. */
export async function makeLive(name: string, host: CommandHost): Promise<number> {
  const found = await findGateway(host);
  if (!found) return 0;
  const { client } = found;
  const { generation, leftOut } = await client.call<Reloaded>('plugins.reload', { name }).finally(() => client.close());
  const out = leftOut.find(({ plugin }) => plugin === name);
  if (!out) console.log(`it is live in generation ${generation}`);
  else console.error(errorLine({ code: out.code, message: `${name} is left out: ${out.why}` }));
  return out ? exitCodes.failed : 0;
}

const first: Readonly<Record<Kind, (name: string) => readonly [command: string, why: string]>> = {
  tool: (name) => [`instar chat "use ${name.replaceAll('-', '_')}"`, 'its tool answers'],
  hook: (name) => [`instar plugins inspect ${name}`, 'the hooks it taps'],
  channel: () => ['instar status', 'where it listens'],
  provider: (name) => [`instar chat "hello" --model ${name}/echo`, 'its model answers'],
  prompt: (name) => [`instar plugins inspect ${name}`, 'the hooks it taps'],
};

function nextSteps(name: string, kind: Kind): string {
  const steps = [first[kind](name), [`instar plugins test ${name}`, 'its tests; then edit index.ts: what is saved is live'] as const];
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, why], i) => `${i ? '     ' : bold('next:')} ${command.padEnd(width)}  ${why}`).join('\n');
}
