import { KernelError, type Run } from '../../kernel/index.ts';
import { type Client, type Method, requireOwner } from '../gateway/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Answer } from './contract.ts';
import type { Desk } from './desk.ts';

const answers = new Set<unknown>(['once', 'always', 'deny']);
const isAnswer = (value: unknown): value is Answer => answers.has(value);

/** Gateway methods of the page and the terminal. */
export function methods(desk: Desk): Readonly<Record<string, Method>> {
  return {
    'approvals.list': () => ({ questions: desk.pending() }),
    'approvals.answer': ({ id, answer }, client, run) => {
      requirePerson(client, run);
      if (typeof id !== 'string' || !isAnswer(answer)) {
        throw new KernelError('APPROVAL_ARGUMENTS', 'approvals.answer takes {id, answer: "once" | "always" | "deny"}');
      }
      return { answered: desk.answer(id, { answer, by: client.kind }) };
    },
    'approvals.attend': ({ name }, client, run) => {
      requirePerson(client, run);
      desk.attendUntil(client.signal, typeof name === 'string' ? name : client.kind);
      return {};
    },
  };
}

/** A turn that could answer would approve its own calls. What a client calls itself says nothing. */
function requirePerson(client: Client, run: Run) {
  if (run.find(Turn)) throw new KernelError('APPROVAL_OWN', 'a turn can neither answer approvals nor attend to them; a person has to');
  requireOwner(client, 'APPROVAL_CLIENT', 'to approve');
}
