import { KernelError } from '../../kernel/index.ts';
import type { Client, Method } from '../gateway/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Answer, Approvals } from './contract.ts';

/** Clients behind which a person sits. */
const people = new Set(['page', 'terminal']);
const answers = new Set<unknown>(['once', 'always', 'deny']);
const isAnswer = (value: unknown): value is Answer => answers.has(value);

/** Gateway methods of the page and the terminal. */
export function methods(approvals: Approvals): Readonly<Record<string, Method>> {
  return {
    'approvals.list': () => ({ questions: approvals.pending() }),
    'approvals.answer': ({ id, answer }, client, run) => {
      requirePerson(client);
      // A turn that could answer would approve its own calls.
      if (run.find(Turn)) throw new KernelError('APPROVAL_OWN', 'a turn cannot answer an approval; a person has to');
      if (typeof id !== 'string' || !isAnswer(answer)) {
        throw new KernelError('APPROVAL_ARGUMENTS', 'approvals.answer takes {id, answer: "once" | "always" | "deny"}');
      }
      return { answered: approvals.answer(id, answer, client.kind) };
    },
    'approvals.attend': ({ name }, client, run) => {
      requirePerson(client);
      if (run.find(Turn)) throw new KernelError('APPROVAL_OWN', 'a turn cannot attend to approvals; a person has to');
      if (client.signal.aborted) return {};
      const seat = approvals.attend(typeof name === 'string' ? name : client.kind);
      client.signal.addEventListener('abort', () => seat.leave(), { once: true });
      return {};
    },
  };
}

function requirePerson({ kind }: Client) {
  if (!people.has(kind)) throw new KernelError('APPROVAL_CLIENT', `a client of kind "${kind}" cannot approve; use the page or a terminal`);
}
