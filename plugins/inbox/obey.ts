import { bail, type Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import { Sessions } from '../sessions/contract.ts';
import { Store } from '../store/contract.ts';
import { type TurnOutcome, Turns } from '../turns/contract.ts';
import { ChatWords, type InboxItem, type QueueCommand, type QueueMode } from './contract.ts';
import { commandOf } from './door.ts';
import { modeOf, setMode } from './item-rows.ts';
import type { Swept } from './lanes.ts';
import { modeFor, type QueueConfig } from './queue.ts';
import { ownWords, wordList } from './words.ts';

/** What the lanes, which outlive this code, hand to the newest of it: items that no turn answers. */
export type Unanswered =
  | { readonly kind: 'command'; readonly item: InboxItem; readonly swept?: Swept }
  | { readonly kind: 'refused'; readonly item: InboxItem };
export const EndUnanswered = bail<Unanswered, true>('inbox.unanswered');

const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** A turn that does not end at once is not waited for any longer: its own end follows. */
const patienceMs = 5_000;

/** Each is answered through the outbox: the command with what it did, what it swept away as stopped. */
export async function endUnanswered(one: Unanswered, run: Run, config: QueueConfig): Promise<true> {
  const { item } = one;
  if (one.kind === 'refused') {
    await (await run.get(Turns).end([item], full(config), run)).sent;
    return true;
  }
  const { swept } = one;
  const stopped = swept && (await endSwept(swept, run));
  const text = await obey(item, swept, run, config);
  const answered = await run.get(Turns).end([item], { payloads: [{ text }], usage: noUsage, stopReason: 'command' }, run);
  swept?.release(); // the session does not wait until all is sent
  await Promise.all([stopped?.sent, answered.sent]);
  return true;
}

/** What waited is stopped, and what ran has its end, unless that takes too long. */
export async function endSwept({ waiting, ended }: Swept, run: Run): Promise<{ readonly sent: Promise<unknown> }> {
  const answers: Promise<void>[] = [];
  for (const item of waiting) answers.push((await run.get(Turns).end([item], stopped, run)).sent);
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, patienceMs);
  await Promise.race([ended, late.promise]);
  clearTimeout(timer);
  return { sent: Promise.all(answers) };
}

const stopped: TurnOutcome = { payloads: [], usage: noUsage, stopReason: 'aborted' };

async function obey(item: InboxItem, swept: Swept | undefined, run: Run, config: QueueConfig): Promise<string> {
  const words = await run.call(ChatWords, ownWords);
  const command = commandOf(item, new Set(words.map(({ word }) => word)));
  if (command?.name === 'help') return wordList(words, command.unknown);
  if (command?.name === 'queue') return queue(command, item, run, config);
  return command?.name === 'stop' ? told(swept) : anew(item, run);
}

function full({ cap, drop }: QueueConfig): TurnOutcome {
  const many = `${cap} ${cap === 1 ? 'message waits' : 'messages wait'} here already`;
  const why = drop !== 'new' ? `${many} and newer ones came; this one was not read` : `${many}; send this one again later`;
  const error = { code: 'QUEUE_FULL', message: why };
  return { payloads: [{ text: why, isError: true }], usage: noUsage, stopReason: 'refused', error };
}

async function anew({ sessionKey }: InboxItem, run: Run): Promise<string> {
  const sessions = run.get(Sessions);
  if (!(await sessions.find(sessionKey))) return 'This conversation is new already.';
  const session = await sessions.reset(sessionKey);
  run.find(Events)?.publish({ type: 'session_changed', sessionKey, data: { session } });
  return 'A new conversation begins.';
}

function told({ isRunning, waiting }: Pick<Swept, 'isRunning' | 'waiting'> = { isRunning: false, waiting: [] }): string {
  const queued = waiting.length === 0 ? '' : waiting.length === 1 ? 'one message that waited' : `${waiting.length} messages that waited`;
  if (isRunning) return queued ? `Stopped, with ${queued}.` : 'Stopped.';
  return queued ? `Nothing ran; ${queued} will not be answered.` : 'Nothing runs here.';
}

async function queue(command: QueueCommand, item: InboxItem, run: Run, config: QueueConfig): Promise<string> {
  const { mode, unknown } = command;
  const { sessionKey, subject } = item;
  if (unknown) return `There is no queue mode "${unknown.slice(0, 60)}"; there are followup, collect, steer, interrupt, and default.`;
  const ofSession = await run.get(Store).tx(async (t) => {
    if (mode) await setMode(t, sessionKey, mode === 'default' ? undefined : mode);
    return modeOf(t, sessionKey);
  });
  return meaning(modeFor({ subject }, ofSession, config));
}

const meanings: Readonly<Record<QueueMode, string>> = {
  followup: 'each gets a turn of its own, in order',
  collect: 'all that wait become one turn',
  steer: 'they join that turn at its next round',
  interrupt: 'they end that turn and run instead',
};
const meaning = (mode: QueueMode) => `Messages that come while a turn runs: ${mode} (${meanings[mode]}).`;
