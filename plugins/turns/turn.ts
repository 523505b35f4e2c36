import { type Content, given, KernelError, type Run, SelectRuntime, type Subject } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Events } from '../events/contract.ts';
import type { InboxItem } from '../inbox/contract.ts';
import { Models } from '../models/contract.ts';
import { Prompt } from '../prompt/contract.ts';
import { type Message, Sessions, type Transcript } from '../sessions/contract.ts';
import { payloadsOf, Turn, type TurnInput, type TurnOutcome, type TurnRuntime } from './contract.ts';

/** Session, model, Subject, prompt, runtime. Each step is asked of the run, so it is the code of one generation. */
export async function runTurn(item: InboxItem, run: Run): Promise<TurnOutcome> {
  const { agentId, sessionKey, itemId, ephemeral = false } = item;
  const sessions = run.get(Sessions);
  const session = await sessions.ensure(sessionKey, { agentId, ephemeral, title: titleOf(item.content) });
  if (!ephemeral) run.find(Events)?.publish({ type: 'session_changed', sessionKey, data: { session } });
  const transcript = await sessions.open(sessionKey);
  const done = item.attempt > 1 ? finishedBefore(transcript, itemId) : undefined;
  if (done) return done;
  const { model } = await run.get(Models).choose(run, agentId, item.model);
  const subject: Subject = { depth: 0, sandboxed: false, ...item.subject, agent: agentId, provider: model.provider, model: model.id };
  const workspace = run.get(Agents).workspace(agentId);
  const turn: Turn = { runId: run.id, agentId, sessionKey, sessionId: session.sessionId, itemId, trigger: 'user', workspace, model };
  const own = run.as({ subject, values: [given(Turn, turn)] });
  const write = writer(item, own, transcript);
  write.emit('agent_start', { itemId, agentId, model: `${model.provider}/${model.id}` });
  await write.input();
  const runtime = (await own.call(SelectRuntime, subject)) as TurnRuntime | undefined;
  if (!runtime) throw new KernelError('RUNTIME_NONE', 'no plugin runs this turn; switch on "runtime-embedded"');
  const { text: system } = await own.get(Prompt).build(own, 'full');
  return runtime.turn({ turn, system, history: await transcript.history(), append: write.append, emit: write.emit }, own);
}

/** Everything a turn writes goes through here: first the file, then the event. */
function writer(item: InboxItem, run: Run, transcript: Transcript) {
  const { itemId, sessionKey, provenance } = item;
  const events = run.find(Events);
  const emit: TurnInput['emit'] = (type, data) => events?.publish({ type, sessionKey, runId: run.id, data });
  const join = async (message: Message, facts: Parameters<Transcript['append']>[1]) => {
    const entry = await transcript.append(message, { runId: run.id, ...facts });
    emit('message_end', { messageId: entry.id, message, ...(entry.itemId && { itemId: entry.itemId }) });
  };
  return {
    emit,
    append: (message: Message, id?: string) => join(message, id ? { id } : {}),
    /** The user's entry, once: after a crash it may be there already. */
    async input() {
      if (transcript.entries.some((entry) => entry.itemId === itemId)) return;
      await transcript.history(); // calls that an earlier turn left open are closed before the new message
      for (const message of item.history ?? []) await transcript.append(message);
      await join({ role: 'user', content: item.content, timestamp: item.enqueuedAt }, { itemId, provenance });
    },
  };
}

/** The end of a turn that a crash kept from being delivered: its final entry is in the transcript already. */
function finishedBefore({ entries }: Transcript, itemId: string): TurnOutcome | undefined {
  const begun = entries.some((entry) => entry.itemId === itemId);
  const last = entries.at(-1)?.message;
  if (!begun || last?.role !== 'assistant' || last.stopReason !== 'stop') return undefined;
  return { payloads: payloadsOf(last), usage: last.usage, stopReason: 'stop', final: last };
}

const titleOf = (content: string | readonly Content[]): string => {
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return text.trim().replace(/\s+/g, ' ').slice(0, 80);
};
