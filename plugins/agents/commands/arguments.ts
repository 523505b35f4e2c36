import { misused } from '../../cli/contract.ts';

/** As many ids as the verb takes. */
export function agentIds(positionals: readonly string[], least: number, most: number): readonly string[] {
  if (positionals.length >= least && positionals.length <= most) return positionals;
  const exactly = most === 1 ? 'the id of one agent' : `the ids of ${most} agents`;
  const wanted = least === most ? exactly : `at most ${most} agent id`;
  throw misused(`it takes ${wanted}`);
}
