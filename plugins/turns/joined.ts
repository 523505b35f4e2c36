import { type Log, messageOf, type Run } from '../../kernel/index.ts';
import type { Claim, InboxItem } from '../inbox/contract.ts';
import type { Message } from '../sessions/contract.ts';
import { admit } from './admit.ts';
import type { TurnOutcome } from './contract.ts';
import { endItems } from './ending.ts';
import { brokenOutcome } from './outcomes.ts';

export interface JoinedAround {
  readonly claim: Claim;
  readonly run: Run;
  readonly log: Log;
  /** Into the transcript, as the user's entry of this item. */
  readonly write: (item: InboxItem) => Promise<Message>;
}

/** Messages that join a turn: each is admitted by itself, and one that is refused ends by itself. */
export function joinedBy({ claim, run, log, write }: JoinedAround) {
  async function endAlone(item: InboxItem, outcome: TurnOutcome) {
    claim.part(item);
    const { deliver } = await endItems([item], outcome, run);
    void deliver().catch((error) => log.error('an answer waits for the next start', { error, itemId: item.itemId }));
  }

  async function admitted(item: InboxItem): Promise<InboxItem | undefined> {
    try {
      const one = await admit(item, 0, run);
      if (!('instead' in one)) return one;
      await endAlone(item, one.instead);
    } catch (cause) {
      if (run.signal.aborted) throw cause;
      log.error(`a message could not join turn ${run.id}: ${messageOf(cause)}`, { error: cause, itemId: item.itemId });
      await endAlone(item, brokenOutcome(cause, run));
    }
    return undefined;
  }

  return async (when: 'start' | 'round'): Promise<readonly Message[]> => {
    const messages: Message[] = [];
    if (run.signal.aborted) return messages;
    for (const item of claim.join(when)) {
      const one = await admitted(item);
      if (one) messages.push(await write(one));
    }
    return messages;
  };
}
