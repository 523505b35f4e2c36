import { type Content, given, KernelError, type Log, type Run, SelectRuntime, type Subject } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Events } from '../events/contract.ts';
import type { Claim, InboxItem } from '../inbox/contract.ts';
import { Models } from '../models/contract.ts';
import { Prompt } from '../prompt/contract.ts';
import { Sandbox } from '../sandbox/contract.ts';
import { type Message, Sessions, type Transcript } from '../sessions/contract.ts';
import { admit, subjectOf } from './admit.ts';
import { Turn, type TurnInput, type TurnOutcome, type TurnRuntime } from './contract.ts';
import { joinedBy } from './joined.ts';
import { type Written, writtenBefore } from './recovery.ts';
import { messagesSince, told } from './sent.ts';
import { stoppable } from './stopping.ts';

/** Admission, session, model, Subject, prompt, runtime. Each step is asked of the run, so it is the code of one generation. */
export async function runTurn(came: InboxItem, run: Run, claim: Claim, log: Log): Promise<TurnOutcome> {
  const before = came.attempt > 1 ? await earlier(came, run.get(Sessions)) : nothing;
  claim.rejoin(before.joined);
  if (before.outcome) return before.outcome;
  const item = await admit(came, before.input, run);
  return 'instead' in item ? item.instead : runAdmitted(item, before.input, run, claim, log);
}

const nothing: Written = { input: 0, joined: [] };

async function earlier(item: InboxItem, sessions: Sessions): Promise<Written> {
  const session = await sessions.find(item.sessionKey);
  return session ? writtenBefore(await sessions.open(item.sessionKey), item) : nothing;
}

async function runAdmitted(item: InboxItem, written: number, run: Run, claim: Claim, log: Log): Promise<TurnOutcome> {
  const { agentId, sessionKey, itemId, ephemeral = false } = item;
  const sessions = run.get(Sessions);
  const session = await sessions.ensure(sessionKey, { agentId, ephemeral, title: titleOf(item.content) });
  if (!ephemeral) run.find(Events)?.publish({ type: 'session_changed', sessionKey, data: { session } });
  const transcript = await sessions.open(sessionKey);
  if (!run.get(Agents).own(agentId)) throw new KernelError('AGENT_UNKNOWN', `agent "${agentId}" is no longer there; name one that is`);
  const { model } = await run.get(Models).choose(run, agentId, item.model);
  const subject: Subject = { ...subjectOf(item, run), provider: model.provider, model: model.id };
  const confined = subject.sandboxed ? run.find(Sandbox)?.workspace({ agentId, sessionKey }, run) : undefined;
  const workspace = confined ?? run.get(Agents).workspace(agentId);
  const turn: Turn = {
    runId: run.id,
    agentId,
    sessionKey,
    sessionId: session.sessionId,
    itemId,
    trigger: 'user',
    workspace,
    model,
    ...(item.model && { modelAsked: true }),
  };
  const own = run.as({ subject, values: [given(Turn, turn)] });
  const write = writer(item, own, transcript);
  write.emit('agent_start', { itemId, agentId, model: `${model.provider}/${model.id}` });
  await write.input(written);
  const joined = joinedBy({ claim, run, log, write: (one) => write.user(one, itemId) });
  await joined('start');
  const runtime = (await own.call(SelectRuntime, subject)) as TurnRuntime | undefined;
  if (!runtime) throw new KernelError('RUNTIME_NONE', 'no plugin runs this turn; switch on "runtime-embedded"');
  const { text: system } = await own.get(Prompt).build(own, 'full');
  const history = sessions.shown(await transcript.history());
  const input: TurnInput = { turn, system, history, append: write.append, emit: write.emit, steered: () => joined('round') };
  const outcome = await stoppable(own, log, () => runtime.turn(input, own));
  return told(outcome, messagesSince(transcript.entries, itemId), item);
}

/** Everything a turn writes goes through here: first the file, then the event. */
function writer(item: InboxItem, run: Run, transcript: Transcript) {
  const { itemId, sessionKey } = item;
  const events = run.find(Events);
  const emit: TurnInput['emit'] = (type, data) => events?.publish({ type, sessionKey, runId: run.id, data });
  const join = async (message: Message, facts: Parameters<Transcript['append']>[1]) => {
    const entry = await transcript.append(message, { runId: run.id, ...facts });
    emit('message_end', { messageId: entry.id, message, ...(entry.itemId && { itemId: entry.itemId }) });
    return message;
  };
  const user = ({ itemId: id, content, provenance, enqueuedAt }: InboxItem, joins?: string) =>
    join({ role: 'user', content, timestamp: enqueuedAt }, { itemId: id, provenance, ...(joins && { joins }) });
  return {
    emit,
    append: async (message: Message, id?: string) => void (await join(message, id ? { id } : {})),
    /** Calls that an earlier turn left open are closed before the new message. */
    async user(one: InboxItem, joins?: string) {
      await transcript.history();
      return user(one, joins);
    },
    /** What the user sent, with the history it brings; after a crash the first ones may be `written` already. */
    async input(written: number) {
      const { history = [] } = item;
      if (written > history.length) return;
      await transcript.history(); // calls that an earlier turn left open are closed before the new message
      for (const message of history.slice(written)) await transcript.append(message, { itemId });
      await user(item);
    },
  };
}

const titleOf = (content: string | readonly Content[]): string => {
  const text = typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return text.trim().replace(/\s+/g, ' ').slice(0, 80);
};
