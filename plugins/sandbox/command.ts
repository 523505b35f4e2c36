import { parseArgs } from 'node:util';
import { byVerb, exitCodes, type RunCommand } from '../cli/contract.ts';
import type { SandboxExplained } from './contract.ts';
import { show } from './show.ts';

const options = { agent: { type: 'string' }, session: { type: 'string' }, json: { type: 'boolean' } } as const;

/** `instar sandbox explain`: asks the code that decides. */
const explain: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options });
  const explained = await host.ask<SandboxExplained>('sandbox.explain', { agentId: values.agent, sessionKey: values.session });
  console.log(values.json ? JSON.stringify(explained) : show(explained));
  const isBroken = explained.sessions.some(({ isSandboxed }) => isSandboxed) && !explained.backends.some(({ isUsed }) => isUsed);
  return isBroken ? exitCodes.failed : 0;
};

export const run = byVerb('sandbox', { explain: async () => ({ run: explain }) });
