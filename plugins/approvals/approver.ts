import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Approver, Run, ToolRequest } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import type { TurnEvents } from '../chat/contract.ts';
import { Store } from '../store/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Clock } from './clock.ts';
import type { Question } from './contract.ts';
import type { Desk, Ending } from './desk.ts';
import { remember } from './memory.ts';
import { visible } from './visible.ts';

const answerMs = 30_000;
/** More than a person can judge; a cut text would hide what matters in its middle. */
const maxChars = 20_000;

/** Asks whoever attends; says no at once where nobody does. */
export function approver(desk: Desk, clock: Clock): Approver {
  return {
    async ask(request, why, run) {
      if (!desk.attended) return { allowed: false, why: nobody };
      if (why.length > maxChars) return { allowed: false, why: tooLong(why.length) };
      const question = questionOf(request, why, run, clock.now());
      const answered = desk.put(question, run.signal);
      publish(run, 'approval_requested', { question });
      const ending = await answered;
      publish(run, 'approval_resolved', { id: question.id, ...ending });
      const exactly = { agent: agentOf(run), tool: request.tool.name, what: why };
      if (ending.answer === 'always') await remember(run.get(Store), exactly, clock.now());
      return { allowed: ending.answer === 'once' || ending.answer === 'always', why: reasonOf(ending) };
    },
  };
}

const nobody =
  'a person has to approve this, and nobody is here to do it: no terminal or page is attached. ' +
  'To let a command run unasked, list it in tools.exec.allow (or set tools.exec.security to "full")';

const tooLong = (length: number) => `it has ${length} characters, more than a person can judge; do it in smaller steps`;

function questionOf(request: ToolRequest, what: string, run: Run, now: number): Question {
  const turn = run.find(Turn);
  const { sender = 'unknown', channel } = run.subject;
  const { cwd } = request.args;
  return {
    id: randomUUID(),
    tool: visible(request.tool.name),
    what: visible(what),
    why: visible(`asked for by ${sender === 'internal' ? 'the gateway itself' : `sender "${sender}"`}${channel ? ` on ${channel}` : ''}`),
    agent: agentOf(run),
    sessionKey: turn?.sessionKey ?? '',
    ...(turn && { cwd: visible(typeof cwd === 'string' ? join(turn.workspace, cwd) : turn.workspace) }),
    askedAt: now,
    expiresAt: now + answerMs,
  };
}

export const agentOf = (run: Run): string => run.subject.agent ?? run.find(Turn)?.agentId ?? '';

function publish<T extends 'approval_requested' | 'approval_resolved'>(run: Run, type: T, data: TurnEvents[T]) {
  const turn = run.find(Turn);
  const facts = turn && { sessionKey: turn.sessionKey, runId: turn.runId };
  run.find(Events)?.publish({ type, ...facts, data: { ...data } });
}

function reasonOf({ answer, by }: Ending): string {
  if (answer === 'timeout') return 'nobody answered within 30 s, which is a no';
  if (answer === 'aborted') return `the question ended with ${by}`;
  return answer === 'deny' ? `${by} said no` : `${by} said yes`;
}
