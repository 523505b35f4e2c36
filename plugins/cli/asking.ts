import type { Interface } from 'node:readline/promises';
import type { Question } from '../approvals/contract.ts';
import type { Link } from './link.ts';
import { bold, dim, plain } from './contract/terminal.ts';
import type { TurnView } from './turn.ts';

/** Puts approvals to the person at the terminal, one by one. Only `y` and `always` are a yes; an answer from elsewhere takes the question back. */
export function askingView(link: Link, terminal: () => Interface, write: (text: string) => void): TurnView {
  const open = new Map<string, AbortController>();
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (question: Question, { signal }: AbortController) => {
    signal.throwIfAborted();
    write(`\n${textOf(question)}\n`);
    const answer = await terminal().question(`Allow "${plain(question.tool)}"? (y/N) `, { signal });
    open.delete(question.id);
    await link.current?.call('approvals.answer', { id: question.id, answer: meantBy(answer, question) });
  };
  return {
    approval_requested({ question }) {
      const taken = new AbortController();
      open.set(question.id, taken);
      // A question that is taken back, or a lost connection: the turn itself tells what became of it.
      last = last.then(() => ask(question, taken)).catch(() => {});
    },
    approval_resolved({ id, answer, by }) {
      const taken = open.get(id);
      if (!taken) return;
      open.delete(id);
      taken.abort();
      write(dim(`\n${endOf(answer, by)}\n`));
    },
  };
}

function meantBy(answer: string, { always }: Question) {
  if (/^always$/i.test(answer.trim()) && always.length > 0) return 'always';
  return /^y(es)?$/i.test(answer.trim()) ? 'once' : 'deny';
}

function endOf(answer: string, by: string): string {
  if (answer === 'timeout') return 'denied, for nobody answered in time';
  const told: Readonly<Record<string, string>> = { once: 'allowed', always: 'allowed from now on', deny: 'denied', aborted: 'taken back' };
  return `${told[answer] ?? plain(answer)} by ${plain(by)}`;
}

function textOf({ tool, what, why, cwd, agent, reasons, always }: Question): string {
  const where = `agent ${plain(agent)}${cwd ? `, in ${plain(cwd)}` : ''}`;
  const lines = [...reasons.slice(0, 8), ...(always.length ? [`"always" adds: ${always.join('; ')}`] : [])];
  return [
    `${bold(plain(tool))} ${dim(`(${where}, ${plain(why)})`)}`,
    `    ${plain(what)}`,
    ...lines.map((line) => dim(`  ${plain(line)}`)),
  ].join('\n');
}
