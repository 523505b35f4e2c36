import type { Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import type { TurnOutcome, WorkTime } from './contract.ts';

/** As the described system has it: a turn at work for two days is none that anybody waits for. */
const usualSeconds = 172_800;

/** Fields of an agent, and of the defaults. */
export const agentFields = {
  timeoutSeconds: {
    type: 'number',
    minimum: 0,
    'x-default': usualSeconds,
    description: 'How long a turn may work, the time that it waits for a person or another session not counted; 0: for ever',
  },
} as const;

export interface TimeLimit {
  /** Aborts when the turn has had its time. */
  readonly signal: AbortSignal;
  /** What a turn that it ended comes to: what was said by then stays, and a line tells why there is no more. */
  applied(outcome: TurnOutcome): TurnOutcome;
  /** The turn has its end. */
  lift(): void;
}

export function limitTime(agentId: string, run: Run, time: WorkTime): TimeLimit {
  const agents = run.get(Agents);
  const seconds = agents.field<number>(agentId, 'timeoutSeconds') ?? usualSeconds;
  const abort = new AbortController();
  const late = () => abort.abort(new DOMException(`the turn took longer than ${seconds} s`, 'TimeoutError'));
  const lift = seconds > 0 ? time.after(seconds * 1000, late) : () => {};
  const holder = agents.own(agentId)?.['timeoutSeconds'] === undefined ? 'agents.defaults' : agents.path(agentId);

  return {
    signal: abort.signal,
    lift,
    applied(outcome) {
      // A stop that came first, an error of its own, and an answer that was whole all the same stay what they are.
      if (!abort.signal.aborted || run.signal.aborted || outcome.stopReason !== 'aborted') return outcome;
      const message = `the turn worked for ${seconds} s, which is all it may, and was ended; raise ${holder}.timeoutSeconds (0: no limit), or say "go on"`;
      const error = { code: 'TURN_TIMEOUT', message };
      const text = `${message} [TURN_TIMEOUT, ${run.id}]`;
      return { ...outcome, payloads: [...outcome.payloads, { text, isError: true }], stopReason: 'error', error };
    },
  };
}
