import type { Log, Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import type { ModelFailure } from '../models/contract.ts';
import { addUsage, type Message, Sessions, type ShownMessage, type Usage } from '../sessions/contract.ts';
import { type CompactAsk, type Compacted, Turn } from '../turns/contract.ts';
import { cutAt } from './cut.ts';
import { tokensBefore, tokensOf } from './estimate.ts';
import { planOf } from './plan.ts';
import { limitOf, type Load, type Room, roomFor } from './room.ts';
import { type Settings, settingsOf } from './settings.ts';
import { shortResults } from './shorten.ts';
import { shrink } from './shrink.ts';

export interface Means {
  readonly log: Log;
  /** Turns in which a summary failed that was not needed yet: they are not held up by it again. */
  readonly gaveUp: WeakSet<Turn>;
}

/** Characters of an old tool result that a request still has. */
const oldResult = 2_000;

/** SPEC 7.7: the messages to send in place of those that are too many. */
export async function compactTurn(ask: CompactAsk, run: Run, means: Means): Promise<Compacted | undefined> {
  const turn = run.find(Turn);
  const settings = turn && settingsOf(run, turn.agentId);
  if (!turn || !settings?.isOn) return undefined;
  const load: Load = {
    window: Math.max(0, turn.model.contextWindow || 0),
    fixed: tokensBefore(ask.system, ask.tools),
    conversation: tokensOf(ask.messages),
  };
  const isBudget = ask.trigger === 'budget';
  if (isBudget && (load.fixed + load.conversation <= limitOf(load.window, settings) || means.gaveUp.has(turn))) return undefined;
  const room = roomFor(ask.trigger, load, settings);
  const compacted = room && (await inRoom({ ask, turn, settings, load, room, means }, run));
  if (compacted) return compacted;
  means.gaveUp.add(turn);
  return isBudget ? undefined : { failure: hopeless(turn, load, ask.failure) };
}

interface Work {
  readonly ask: CompactAsk;
  readonly turn: Turn;
  readonly settings: Settings;
  readonly load: Load;
  readonly room: Room;
  readonly means: Means;
}

/** Old results are shortened first, which costs nothing; then the older part is summarised; then what is left is shortened. */
async function inRoom(work: Work, run: Run): Promise<Compacted | undefined> {
  const { ask, room } = work;
  const pruned = shortResults(ask.messages, cutAt(ask.messages, room.keep, room.all) ?? 0, oldResult);
  if (tokensOf(pruned) <= room.all) return told(work, run, async () => ({ messages: pruned, summarised: 0 }));
  const sessions = run.get(Sessions);
  const transcript = await sessions.open(work.turn.sessionKey);
  if (transcript.sessionId !== work.turn.sessionId) return undefined; // it was reset meanwhile
  const plan = planOf(sentOf(transcript.shown(), sessions), room);
  if (!plan) return squeezed(work, ask.messages, run);
  return told(work, run, async () => {
    const { load, settings, means, turn } = work;
    const total = load.fixed + load.conversation;
    const isNeeded = ask.trigger === 'overflow' || (load.window > 0 && total > load.window);
    const instructions = settings.instructions ? [settings.instructions] : [];
    const { model } = turn;
    const shrunk = await shrink({ plan, transcript, model, room, settings, instructions, tokensBefore: total, isNeeded }, run);
    const usage = shrunk.usages.length ? shrunk.usages.reduce(addUsage) : undefined;
    if ('failure' in shrunk) {
      means.gaveUp.add(turn);
      return { usage, failure: shrunk.failure, isNeeded };
    }
    const messages = sessions.shown(await transcript.history());
    const kept = tokensOf(messages) <= room.all ? messages : short(messages, room);
    return { usage, messages: kept, summarised: plan.older.length, ...(shrunk.isPoor && { isPoor: true }) };
  });
}

/** As far as the model is shown it. */
function sentOf(shown: readonly ShownMessage[], sessions: Sessions): readonly ShownMessage[] {
  const [first] = sessions.shown(shown.map(({ message }) => message));
  return shown.slice(
    Math.max(
      0,
      shown.findIndex(({ message }) => message === first),
    ),
  );
}

/** Every result, the newest too, so that even a turn of nothing but huge results goes on. */
function short(messages: readonly Message[], room: Room): readonly Message[] {
  const results = messages.filter(({ role }) => role === 'toolResult').length;
  return shortResults(messages, messages.length, Math.max(500, Math.min(oldResult * 4, Math.floor((room.all * 2) / Math.max(1, results)))));
}

async function squeezed(work: Work, messages: readonly Message[], run: Run): Promise<Compacted | undefined> {
  const kept = short(messages, work.room);
  if (tokensOf(kept) > 0.9 * work.load.conversation) return undefined;
  return told(work, run, async () => ({ messages: kept, summarised: 0 }));
}

type Done = { readonly usage?: Usage | undefined } & (
  | { readonly messages: readonly Message[]; readonly summarised: number; readonly isPoor?: boolean }
  | { readonly failure: ModelFailure; readonly isNeeded: boolean }
);

/** SPEC 6.1: between its two events, whatever comes of it. */
async function told({ ask, turn, load, means }: Work, run: Run, work: () => Promise<Done>): Promise<Compacted | undefined> {
  const { trigger } = ask;
  const { sessionKey, runId } = turn;
  const before = load.fixed + load.conversation;
  const emit = (type: string, data: Readonly<Record<string, unknown>>) => run.find(Events)?.publish({ type, sessionKey, runId, data });
  emit('auto_compaction_start', { trigger, tokensBefore: before });
  let [tokensAfter, messages, error] = [before, 0, 'it broke off' as string | undefined];
  try {
    const done = await work();
    if ('failure' in done) {
      error = `the conversation could not be summarised: ${done.failure.message}`;
      means.log.warn(error, { sessionKey, runId, trigger, code: done.failure.code });
      const usage = done.usage && { usage: done.usage };
      if (done.failure.code !== 'MODEL_ABORTED' && !done.isNeeded) return { messages: ask.messages, ...usage };
      return { failure: isStop(done.failure) ? done.failure : unsummarised(turn, done.failure), ...usage };
    }
    error = done.isPoor ? 'no summary could be made in time or at all: the older part is now only your own words, shortened' : undefined;
    [tokensAfter, messages] = [load.fixed + tokensOf(done.messages), done.summarised];
    means.log.info(`compacted: about ${before} tokens became ${tokensAfter}`, { sessionKey, runId, trigger, messages });
    return { messages: done.messages, ...(done.usage && { usage: done.usage }) };
  } finally {
    emit('auto_compaction_end', { trigger, tokensBefore: before, tokensAfter, messages, ...(error && { error }) });
  }
}

const isStop = ({ code }: ModelFailure) => code === 'MODEL_ABORTED';

const nameOf = ({ model }: Turn) => `${model.provider}/${model.id}`;

const unsummarised = (turn: Turn, { message, reason }: ModelFailure): ModelFailure => ({
  code: 'COMPACTION_FAILED',
  ...(reason && { reason }),
  message: `the conversation is too long for ${nameOf(turn)} and could not be summarised (${message}); send the message again later, or begin a new session with /new`,
});

function hopeless(turn: Turn, { fixed, conversation, window }: Load, refused: ModelFailure | undefined): ModelFailure {
  const size = `about ${fixed} tokens of prompt and tools, ${conversation} of conversation${window ? `, a window of ${window}` : ''}`;
  const message = `the request is too long for ${nameOf(turn)} and nothing of it can be made shorter (${size}); send less at once, begin a new session with /new, or choose a model with a larger context window${refused ? ` (${refused.message})` : ''}`;
  return { code: 'COMPACTION_FAILED', reason: 'context_overflow', message };
}
