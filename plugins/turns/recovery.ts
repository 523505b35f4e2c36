import { KernelError } from '../../kernel/index.ts';
import type { InboxItem } from '../inbox/contract.ts';
import type { AssistantMessage, Entry, Transcript } from '../sessions/contract.ts';
import { answerOf, payloadsOf, type TurnOutcome } from './contract.ts';
import { told } from './sent.ts';

/** A turn that took the process down this often is not the one to try again. */
const maxAttempts = 5;

export interface Written {
  /** How many messages of the item's own. */
  readonly input: number;
  /** Items that had joined its turn. */
  readonly joined: readonly string[];
  /** Where only the delivery was missing. */
  readonly outcome?: TurnOutcome;
}

/**
 * What a transcript says of an item that a crash interrupted: how many of its input's messages are written already, and
 * its outcome where only the delivery was missing. An item that can go on nowhere is refused.
 */
export function writtenBefore({ entries }: Transcript, item: InboxItem): Written {
  const own = entries.filter(({ itemId }) => itemId === item.itemId);
  const input = own.length;
  if (input < inputLength(item)) return { input, joined: [] };
  const after = entries.slice(entries.indexOf(own.at(-1) as Entry) + 1);
  const next = after.findIndex(({ itemId, joins }) => itemId !== undefined && joins !== item.itemId);
  const turn = after.slice(0, next < 0 ? after.length : next);
  const joined = turn.flatMap(({ itemId }) => itemId ?? []);
  const outcome = outcomeOf(turn.at(-1));
  if (outcome)
    return {
      input,
      joined,
      outcome: told(
        outcome,
        turn.map(({ message }) => message),
        item,
      ),
    };
  if (next >= 0) throw interrupted('later messages followed');
  if (item.attempt > maxAttempts) throw interrupted(`the process ended in each of ${maxAttempts} attempts`);
  return { input, joined };
}

/** An item's input: the history that it brings, and the message itself. */
const inputLength = ({ history = [] }: InboxItem): number => history.length + 1;

/** The end of a turn is a reply without calls. That of an aborted or failed one may not be there: then it is asked again. */
function outcomeOf(last: Entry | undefined): TurnOutcome | undefined {
  if (last?.message.role !== 'assistant' || last.message.content.some((part) => part.type === 'toolCall')) return undefined;
  const { message: final } = last;
  const { usage, stopReason } = final;
  if (stopReason === 'error') return failed(final);
  return { payloads: answerOf(final), usage, stopReason, final };
}

function failed(final: AssistantMessage): TurnOutcome {
  const message = final.errorMessage ?? 'the model failed';
  const payloads = [...payloadsOf(final), { text: message, isError: true }];
  return { payloads, usage: final.usage, stopReason: 'error', error: { code: 'TURN_FAILED', message }, final };
}

const interrupted = (why: string) =>
  new KernelError('TURN_INTERRUPTED', `this message was being answered when the gateway ended, and ${why}; send it again`);
