import type { Run, Subject } from '../../kernel/index.ts';
import type { InboxItem } from '../inbox/contract.ts';
import type { Message } from '../sessions/contract.ts';
import { AdmitMessage, type Incoming, type TurnOutcome } from './contract.ts';

/** What a turn is judged by before its model is known. */
export const subjectOf = (item: InboxItem): Subject => ({ depth: 0, sandboxed: false, ...item.subject, agent: item.agentId });

/** The item as the taps of `turn.admit` leave it, or why they refuse it. What is `written` was admitted before a crash. */
export async function admit(item: InboxItem, written: number, run: Run): Promise<InboxItem | { readonly refused: string }> {
  const { sessionKey, provenance, history = [] } = item;
  if (written > history.length) return item;
  const own = run.as({ subject: subjectOf(item) });
  const ask = (content: Incoming['content']) => own.call(AdmitMessage, { content, sessionKey, provenance });
  const { content, refused } = await ask(item.content);
  if (refused !== undefined) return { refused };
  const past: Message[] = [];
  for (const message of history) {
    if (message.role !== 'user') past.push(message);
    else past.push({ ...message, content: contentOf(await ask(message.content)) });
  }
  return { ...item, content, ...(item.history && { history: past }) };
}

const contentOf = ({ content, refused }: Incoming) => (refused === undefined ? content : `[a message that was refused: ${refused}]`);

const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** The end of a turn that never began: it is in no transcript, so that no model reads it later. */
export function refusedOutcome(why: string): TurnOutcome {
  const error = { code: 'MESSAGE_REFUSED', message: why };
  return { payloads: [{ text: why, isError: true }], usage: noUsage, stopReason: 'refused', error };
}
