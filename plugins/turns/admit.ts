import type { Run, Subject } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import type { InboxItem } from '../inbox/contract.ts';
import { modeConfines, Sandbox } from '../sandbox/contract.ts';
import type { Message } from '../sessions/contract.ts';
import { AdmitMessage, type Incoming, type TurnOutcome } from './contract.ts';
import { noUsage } from './outcomes.ts';

/** What a turn is judged by before its model is known. What came from a sandbox stays in one, whatever its agent's config says. */
export function subjectOf(item: InboxItem, run: Run): Subject {
  const { agentId, subject } = item;
  const mode = run.find(Agents)?.field<string>(agentId, 'sandbox.mode');
  return { depth: 0, ...subject, agent: agentId, sandboxed: subject.sandboxed === true || modeConfines(mode, subject.session) };
}

/** The item as the taps of `turn.admit` leave it, or its end where they refuse or obey it. What is `written` was admitted before a crash. */
export async function admit(item: InboxItem, written: number, run: Run): Promise<InboxItem | { readonly instead: TurnOutcome }> {
  const { sessionKey, provenance, history = [] } = item;
  if (written > history.length) return item;
  const own = run.as({ subject: subjectOf(item, run) });
  if (own.subject.sandboxed && !own.find(Sandbox)) return { instead: refusedOutcome(unsandboxed(item.agentId)) };
  const ask = (content: Incoming['content']) => own.call(AdmitMessage, { content, sessionKey, provenance });
  const { content, refused, answered } = await ask(item.content);
  if (refused !== undefined) return { instead: refusedOutcome(refused) };
  if (answered !== undefined) return { instead: { payloads: [{ text: answered }], usage: noUsage, stopReason: 'command' } };
  const past: Message[] = [];
  for (const message of history) {
    if (message.role !== 'user') past.push(message);
    else past.push({ ...message, content: contentOf(await ask(message.content)) });
  }
  return { ...item, content, ...(item.history && { history: past }) };
}

const unsandboxed = (agentId: string) =>
  `agent "${agentId}" works in a sandbox only, and there is none: plugin "sandbox" is off or was left out. Switch it on, or set its sandbox.mode to "off"`;

const contentOf = ({ content, refused }: Incoming) => (refused === undefined ? content : `[a message that was refused: ${refused}]`);

/** The end of a turn that never began: it is in no transcript, so that no model reads it later. */
function refusedOutcome(why: string): TurnOutcome {
  const error = { code: 'MESSAGE_REFUSED', message: why };
  return { payloads: [{ text: why, isError: true }], usage: noUsage, stopReason: 'refused', error };
}
