import { parseArgs } from 'node:util';
import { nearest } from '../../kernel/index.ts';
import { type CommandHost, exitCodes, type RunCommand } from '../cli/contract.ts';
import type { SandboxExplained } from './contract.ts';
import { show } from './show.ts';

const options = { agent: { type: 'string' }, session: { type: 'string' }, json: { type: 'boolean' } } as const;

/** `instar sandbox explain`: asks the code that decides. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (verb !== 'explain') return usage(host, verb ? unknownVerb(verb) : 'sandbox needs a verb');
  const { values } = parseArgs({ args: [...argv], options });
  const explained = await host.ask<SandboxExplained>('sandbox.explain', { agentId: values.agent, sessionKey: values.session });
  console.log(values.json ? JSON.stringify(explained) : show(explained));
  const isBroken = explained.sessions.some(({ isSandboxed }) => isSandboxed) && !explained.backends.some(({ isUsed }) => isUsed);
  return isBroken ? exitCodes.failed : 0;
};

const unknownVerb = (verb: string) => `sandbox has no "${verb}"${nearest(verb, ['explain']) ? '; did you mean "explain"?' : ''}`;

function usage(host: CommandHost, what: string): number {
  console.error(`instar: ${what}; usage: ${host.commands.get('sandbox')?.usage}`);
  return exitCodes.usage;
}
