import { type Content, given, KernelError, type Log, type Run, SelectRuntime, type Subject } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Events } from '../events/contract.ts';
import type { Claim, InboxItem } from '../inbox/contract.ts';
import { Models } from '../models/contract.ts';
import { Prompt } from '../prompt/contract.ts';
import { Sandbox } from '../sandbox/contract.ts';
import { Sessions, titleFrom } from '../sessions/contract.ts';
import { admit, subjectOf } from './admit.ts';
import { Turn, type TurnInput, type TurnOutcome, type TurnRuntime, WorkTime } from './contract.ts';
import { joinedBy } from './joined.ts';
import { type Written, writtenBefore } from './recovery.ts';
import { messagesSince, told } from './sent.ts';
import { triggerOf } from './trigger.ts';
import { stoppable } from './stopping.ts';
import { limitTime } from './time-limit.ts';
import { openWorkTime } from './work-time.ts';
import { writer } from './writer.ts';

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
  const session = await sessions.ensure(sessionKey, { agentId, ephemeral, title: titleFrom(wordsOf(item.content)) });
  if (!ephemeral) run.find(Events)?.publish({ type: 'session_changed', sessionKey, data: { session } });
  const transcript = await sessions.open(sessionKey);
  if (!run.get(Agents).own(agentId)) throw new KernelError('AGENT_UNKNOWN', `agent "${agentId}" is no longer there; name one that is`);
  const { model, missing } = await run.get(Models).choose(run, agentId, item.model);
  const subject: Subject = { ...subjectOf(item, run), provider: model.provider, model: model.id };
  const confined = subject.sandboxed ? run.find(Sandbox)?.workspace({ agentId, sessionKey }, run) : undefined;
  const workspace = confined ?? run.get(Agents).workspace(agentId);
  const turn: Turn = {
    runId: run.id,
    agentId,
    sessionKey,
    sessionId: session.sessionId,
    itemId,
    trigger: triggerOf(item),
    workspace,
    ...(confined !== undefined && { spawnWorkspace: run.get(Agents).workspace(agentId) }),
    model,
    ...(item.model && { modelAsked: true }),
    ...(missing && { modelMissing: missing }),
  };
  const time = openWorkTime();
  const limit = limitTime(agentId, run, time);
  const own = run.as({ subject, signal: limit.signal, values: [given(Turn, turn), given(WorkTime, time)] });
  const write = writer(item, own, transcript, log);
  const joined = joinedBy({ claim, run, log, write: (one) => write.user(one, itemId) });
  const work = async () => {
    write.emit('agent_start', { itemId, agentId, model: `${model.provider}/${model.id}` });
    await write.input(written);
    await joined('start');
    const runtime = (await own.call(SelectRuntime, subject)) as TurnRuntime | undefined;
    if (!runtime) throw new KernelError('RUNTIME_NONE', 'no plugin runs this turn; switch on "runtime-embedded"');
    const { text: system } = await own.get(Prompt).build(own, 'full');
    const history = sessions.shown(await transcript.history());
    // What waits is not for a runtime whose turn has been ended: nobody would answer it.
    const steered = async () => (own.signal.aborted ? [] : joined('round'));
    const input: TurnInput = { turn, system, history, append: write.append, emit: write.emit, steered };
    return runtime.turn(input, own);
  };
  const outcome = limit.applied(await stoppable(own, log, work).finally(() => limit.lift()));
  write.close();
  return told(outcome, messagesSince(transcript.entries, itemId), item);
}

const wordsOf = (content: string | readonly Content[]): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
