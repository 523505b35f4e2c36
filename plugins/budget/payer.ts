import type { Run } from '../../kernel/index.ts';
import { Turn } from '../turns/contract.ts';
import { RootOf, type RunRoot } from './contract.ts';
import type { Payer } from './limits.ts';

/** The root of a run's tree. Outside a turn (a probe, a job) the run itself. */
export async function rootOf(run: Run): Promise<Partial<RunRoot> & Pick<RunRoot, 'runId'>> {
  const turn = run.find(Turn);
  if (!turn) return { runId: run.id };
  return (await run.call(RootOf, turn)) ?? { runId: turn.runId, sessionKey: turn.sessionKey };
}

/** Whom a request of this run counts for. */
export async function payerOf(run: Run): Promise<Payer & { readonly root: string }> {
  const turn = run.find(Turn);
  const { runId, sessionKey } = await rootOf(run);
  const sessions = [turn?.sessionKey, sessionKey].filter((key) => key !== undefined);
  return { agentId: turn?.agentId ?? run.subject.agent, sessions, root: runId };
}
