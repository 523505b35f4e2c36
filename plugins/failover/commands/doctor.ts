import { parseArgs } from 'node:util';
import { bold, dim, exitCodes, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { ProbeLine } from '../contract.ts';
import { secondsOf } from '../seconds.ts';

/** `instar models doctor`: a short real request with each profile of each model of the chain. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' }, agent: { type: 'string' } } });
  if (!values.json) console.error(dim('each profile of each model is asked for one word: this costs a few tokens'));
  const { probes } = await host.ask<{ readonly probes: readonly ProbeLine[] }>('models.probe', {
    ...(values.agent && { agentId: values.agent }),
  });
  if (values.json) console.log(JSON.stringify({ probes }));
  else for (const one of probes) console.log(lineOf(one));
  return probes.every(({ ok }) => ok) ? 0 : exitCodes.failed;
};

function lineOf({ model, profile, ok, ms, reason, message }: ProbeLine): string {
  const who = profile ? `${model} as ${profile}` : model;
  if (ok) return `${dim('ok  ')}  ${who}  ${dim(secondsOf(ms))}`;
  return `${bold('fail')}  ${who}  ${reason ? `${reason}: ` : ''}${oneLine(message, 300)}`;
}
