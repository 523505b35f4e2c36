import type { Log, Run } from '../../kernel/index.ts';
import { type ChatWord, wordIn } from '../inbox/contract.ts';
import type { Incoming } from '../turns/contract.ts';
import { compactSession } from './session.ts';

export const compactWord: ChatWord = {
  word: '/compact',
  usage: '/compact [INSTRUCTIONS]',
  does: 'makes the older part of this conversation a summary, which heeds the instructions',
};

/** `/compact`, and what the summary should heed after it. A whole message only. */
export function wishIn({ content }: Pick<Incoming, 'content'>): string | undefined {
  const said = wordIn(content);
  return said?.word === '/compact' ? said.rest : undefined;
}

/** A stranger's or a group's words are no command, and those of a stateless client are told again with every message. */
const mayCommand = ({ sender, session, group }: Run['subject']) =>
  session !== 'ephemeral' &&
  (sender === 'owner' || (sender === 'known' && session !== 'group' && session !== 'thread' && group === undefined));

export async function obey(message: Incoming, run: Run, log: Log): Promise<Incoming> {
  const instructions = wishIn(message);
  const { provenance, sessionKey, refused, answered } = message;
  if (instructions === undefined || refused !== undefined || answered !== undefined) return message;
  if (provenance.kind !== 'external_user' || !mayCommand(run.subject)) return message;
  const { text } = await compactSession({ sessionKey, instructions }, run, log);
  return { ...message, answered: text };
}
