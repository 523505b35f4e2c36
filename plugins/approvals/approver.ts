import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Approver, Run, ToolRequest } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import type { TurnEvents } from '../chat/contract.ts';
import { Inbox } from '../inbox/contract.ts';
import { Store } from '../store/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Clock } from './clock.ts';
import { Proposal, type Proposed, type Question } from './contract.ts';
import type { Desk, Ending } from './desk.ts';
import { remember } from './memory.ts';
import { visible } from './visible.ts';

const answerMs = 30_000;
/** More than a person can judge; a cut text would hide what matters in its middle. */
const maxChars = 20_000;

/** Asks whoever attends; says no at once where nobody does. */
export function approver(desk: Desk, clock: Clock): Approver {
  return {
    async ask(request, what, run) {
      if (what.length > maxChars) return { allowed: false, why: tooLong(what.length) };
      const proposed = (await run.call(Proposal, request)) ?? exactly(request, what, run, clock);
      const question = questionOf(request, what, proposed, run, clock.now());
      if (!desk.attends(question)) return { allowed: false, why: nobody(request.tool.name, proposed.reasons) };
      const answered = desk.put(question, run.signal);
      publish(run, 'approval_requested', { question });
      // A turn that waits for a person leaves its place to others: four open questions must not stop everybody.
      const ending = await (run.find(Inbox)?.aside(run, () => answered) ?? answered);
      publish(run, 'approval_resolved', { id: question.id, ...ending });
      if (ending.answer === 'always') await proposed.always?.keep(ending.by);
      return { allowed: ending.answer === 'once' || ending.answer === 'always', why: reasonOf(ending) };
    },
  };
}

/** Where no plugin knows more of the call. */
function exactly(request: ToolRequest, what: string, run: Run, clock: Clock): Proposed {
  const call = { agent: agentOf(run), tool: request.tool.name, what };
  const keep = () => remember(run.get(Store), call, clock.now());
  return { reasons: [], always: { adds: ['exactly this call, for this agent'], keep } };
}

const cures: Readonly<Record<string, string>> = {
  exec: 'a person enters "instar approvals allowlist add PROGRAM ARGUMENTS" in a terminal',
  mcp: 'name the tool in mcp.servers.<name>.allow',
};

function nobody(tool: string, reasons: readonly string[]): string {
  const cure = cures[tool.startsWith('mcp__') ? 'mcp' : tool];
  const because = reasons.length ? ` (${reasons.slice(0, 3).join('; ')})` : '';
  const unasked = cure ? `. To let it run unasked, ${cure}` : '';
  return `a person has to approve this${because}, and nobody is here to do it: no terminal or page is attached; open one to be asked${unasked}`;
}

const tooLong = (length: number) => `it has ${length} characters, more than a person can judge; do it in smaller steps`;

function questionOf(request: ToolRequest, what: string, { reasons, always }: Proposed, run: Run, now: number): Question {
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
    reasons: reasons.map(visible),
    always: always?.adds.map(visible) ?? [],
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
