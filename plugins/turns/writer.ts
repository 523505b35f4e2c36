import { KernelError, type Log, messageOf, type Run } from '../../kernel/index.ts';
import { Events } from '../events/contract.ts';
import type { InboxItem } from '../inbox/contract.ts';
import type { Message, Transcript } from '../sessions/contract.ts';
import type { TurnInput } from './contract.ts';
import { untilThereIsRoom } from '../store/contract.ts';
import { isFull } from './room.ts';
import { shortened } from './shortened.ts';

/** Everything a turn writes goes through here: first the file, then the event. */
export function writer(item: InboxItem, run: Run, transcript: Transcript, log: Log) {
  const { itemId, sessionKey } = item;
  const events = run.find(Events);
  let isOver = false;
  const emit: TurnInput['emit'] = (type, data) => {
    if (!isOver) events?.publish({ type, sessionKey, runId: run.id, data });
  };
  const failed = (error: unknown, tried: number) => {
    if (tried > 0) return;
    log.error(`${messageOf(error)} (the turn goes on once there is room)`, { runId: run.id });
    emit('turn_waiting', { message: 'the disk is full: the turn goes on once there is room' });
  };
  const alive = () => {
    if (isOver) throw new KernelError('TURN_OVER', `turn ${run.id} has had its end; what comes of it later is in no transcript`);
  };
  const join = async (message: Message, facts: Parameters<Transcript['append']>[1]) => {
    const put = async () => {
      alive();
      return transcript.append(message, { runId: run.id, ...facts });
    };
    // What has been said or done cannot be taken back; a message that is about to be answered can be sent again.
    const entry = await (message.role === 'user' ? put() : untilThereIsRoom(put, { passes: isFull, signal: () => run.signal, failed }));
    emit('message_end', { messageId: entry.id, message, ...(entry.itemId && { itemId: entry.itemId }) });
    return message;
  };
  const user = ({ itemId: id, content: whole, provenance, enqueuedAt, isShortened }: InboxItem, joins?: string) => {
    const content = isShortened ? shortened(whole) : whole;
    return join({ role: 'user', content, timestamp: enqueuedAt }, { itemId: id, provenance, ...(joins && { joins }) });
  };
  return {
    emit,
    /** A runtime that was left behind must not write into the turn that follows, nor be seen at work. */
    close() {
      isOver = true;
    },
    append: async (message: Message, id?: string) => void (await join(message, id ? { id } : {})),
    /** Calls that an earlier turn left open are closed before the new message. */
    async user(one: InboxItem, joins?: string) {
      alive(); // those that are open now are the next turn's
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
