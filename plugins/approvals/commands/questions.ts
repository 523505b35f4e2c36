import { parseArgs } from 'node:util';
import { KernelError } from '../../../kernel/index.ts';
import { bold, columns, type CommandHost, dim, misused, plain, type RunCommand } from '../../cli/contract.ts';
import type { Question } from '../contract.ts';

const options = { json: { type: 'boolean' }, always: { type: 'boolean' } } as const;

const pending = async (host: CommandHost) => (await host.ask<{ readonly questions: readonly Question[] }>('approvals.list')).questions;

/** `instar approvals list`. */
export const list: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options });
  const questions = await pending(host);
  if (values.json) console.log(JSON.stringify({ questions }));
  else console.log(questions.length ? questions.map(shown).join('\n\n') : dim('nothing waits for an answer'));
  return 0;
};

/** `instar approvals allow ID [--always]`. */
export const allow: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  return answer(positionals[0], values.always ? 'always' : 'once', values.json ?? false, host);
};

/** `instar approvals deny ID`. */
export const deny: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  return answer(positionals[0], 'deny', values.json ?? false, host);
};

async function answer(id: string | undefined, said: 'once' | 'always' | 'deny', json: boolean, host: CommandHost): Promise<number> {
  // A second lock behind the gateway's own: a command of an agent does not answer for a person.
  if (host.env['INSTAR_EXEC'] !== undefined)
    throw new KernelError('APPROVAL_OWN', 'a command that an agent runs cannot answer an approval; a person has to');
  if (!id) throw misused(`approvals ${said === 'deny' ? 'deny' : 'allow'} needs an ID; "instar approvals list" shows them`);
  const found = (await pending(host)).filter((question) => question.id.startsWith(id));
  if (found.length !== 1)
    throw new KernelError(
      'APPROVAL_UNKNOWN',
      found.length
        ? `"${id}" fits ${found.length} open questions; give more of the ID`
        : `no open question has the ID "${id}"; it was answered, or 30 s have passed`,
    );
  const { answered } = await host.ask<{ readonly answered: boolean }>('approvals.answer', { id: found[0]?.id, answer: said });
  if (!answered) throw new KernelError('APPROVAL_UNKNOWN', `the question "${id}" was settled meanwhile`);
  if (json) console.log(JSON.stringify({ id: found[0]?.id, answer: said }));
  else
    console.log(
      said === 'deny' ? 'denied' : said === 'always' && found[0]?.always.length ? 'allowed, from now on as well' : 'allowed once',
    );
  return 0;
}

function shown({ id, tool, what, why, agent, cwd, reasons, always, expiresAt }: Question): string {
  const rows = [
    { label: 'agent', value: plain(agent) },
    ...(cwd ? [{ label: 'folder', value: plain(cwd) }] : []),
    { label: 'asker', value: plain(why) },
    ...reasons.map((reason) => ({ label: 'reason', value: plain(reason) })),
    ...always.map((entry) => ({ label: '--always adds', value: plain(entry) })),
    { label: 'until', value: `${Math.max(0, Math.ceil((expiresAt - Date.now()) / 1000))} s from now, then it is a no` },
  ];
  return `${bold(id.slice(0, 8))}  ${plain(tool)}\n    ${plain(what)}\n${columns(rows)}`;
}
