import { invalidArgumentsOf, type ModelFailure, type ModelReply } from '../models/contract.ts';
import { type AssistantMessage, joining, type ToolCallPart, type UserMessage } from '../sessions/contract.ts';
import { silentToken, textOf, whyCut } from '../turns/contract.ts';

/** It neither says nor calls anything, and nobody knows of anything that went wrong. */
export const isWordless = ({ message, failure }: ModelReply): boolean =>
  !failure && !textOf(message).trim() && !message.content.some(({ type }) => type === 'toolCall');

/** Some models end with nothing, most often behind a result: asked once more they answer. Where they had no room, they do not. */
export const mayAnswerYet = ({ message }: ModelReply): boolean => message.stopReason !== 'length';

/** A reply without a word as what it is: whoever waits must not be left in silence. */
export function failedReply(reply: ModelReply): ModelReply {
  const { message } = reply;
  const name = `${message.provider}/${message.model}`;
  const failure: ModelFailure =
    message.stopReason === 'length'
      ? { code: 'REPLY_CUT', message: `${name}: ${whyCut(message)}` }
      : {
          code: 'REPLY_EMPTY',
          message: `${name} answered nothing, also when asked again; send the message again, or choose another model`,
        };
  return { ...reply, message: { ...message, stopReason: 'error', errorMessage: failure.message }, failure };
}

/** Notes of ours to the model are in the requests of the turn alone: nobody said them. */
const note = (text: string): UserMessage => joining({ role: 'user', content: `[${text}]`, timestamp: Date.now() });

export const askAgain = (): UserMessage =>
  note(`Your last reply was empty. Answer now in words; if nothing is to be said, answer ${silentToken}.`);

/** With the results of calls of which one was cut. Undefined where all of them came whole. */
export function noteOfCut({ stopReason }: AssistantMessage, calls: readonly ToolCallPart[]): UserMessage | undefined {
  if (stopReason !== 'length' || !calls.some((call) => invalidArgumentsOf(call) !== undefined)) return undefined;
  return note('Your last reply reached its length limit, and its last call was cut off. Do it in smaller pieces, over several calls.');
}
