import type { Run } from '../../kernel/index.ts';
import { attemptOf, type ModelFailure, type ToolSpec } from '../models/contract.ts';
import { addUsage, type Message, newEntryId, type Usage } from '../sessions/contract.ts';
import { CompactTurn, type TurnInput } from '../turns/contract.ts';
import { ask, type Asked } from './ask.ts';

/** SPEC 7.4: of one request, whatever their trigger. */
const maxCompactions = 3;

/**
 * Asks, with `messages` compacted in place: before the request where that is due, and again where the model finds it too
 * long. That is never a reason to ask another model.
 */
export async function fitted(
  input: TurnInput,
  run: Run,
  messages: Message[],
  tools: readonly ToolSpec[],
  around: Parameters<typeof ask>[4],
): Promise<Asked> {
  const spent: Usage[] = [];
  let compactions = 0;
  let waitedMs: number | undefined;
  /** Undefined: it fits as far as anybody knows. */
  async function compact(refused?: ModelFailure): Promise<ModelFailure | undefined> {
    if (compactions === maxCompactions) return refused && exhausted(input, refused);
    const trigger = refused ? 'overflow' : 'budget';
    const compacted = await run.call(CompactTurn, { trigger, ...(refused && { failure: refused }), system: input.system, messages, tools });
    if (compacted?.usage) spent.push(compacted.usage);
    if (!compacted) return refused;
    if ('failure' in compacted) return compacted.failure;
    if (compacted.messages === messages) return refused;
    compactions++;
    messages.splice(0, messages.length, ...compacted.messages);
    return undefined;
  }

  for (let failure = await compact(); ; ) {
    if (failure) return unasked(input, failure, spent);
    const asked = await ask(input, run, messages, tools, around);
    const { reply, isShown } = asked;
    spent.push(reply.spent ?? reply.message.usage);
    if (reply.waitedMs !== undefined) waitedMs = (waitedMs ?? 0) + reply.waitedMs;
    const isTooLong = reply.failure?.reason === 'context_overflow' && !isShown && reply.message.content.length === 0;
    if (!isTooLong || run.signal.aborted)
      return { ...asked, reply: { ...withSpent(reply, spent), ...(waitedMs !== undefined && { waitedMs }) } };
    failure = await compact(reply.failure);
  }
}

const withSpent = (reply: Asked['reply'], spent: readonly Usage[]): Asked['reply'] =>
  spent.length > 1 ? { ...reply, spent: spent.reduce(addUsage) } : reply;

function unasked({ turn }: TurnInput, failure: ModelFailure, spent: readonly Usage[]): Asked {
  const { message } = attemptOf(turn.model, {}, failure);
  return { id: newEntryId(), isShown: false, reply: withSpent({ message, failure }, [message.usage, ...spent]) };
}

function exhausted({ turn: { model } }: TurnInput, { message }: ModelFailure): ModelFailure {
  const name = `${model.provider}/${model.id}`;
  const how = `begin a new session with /new, or choose a model with a larger context window`;
  const what = `the conversation is too long for ${name}, even after it was compacted ${maxCompactions} times; ${how} (${message})`;
  return { code: 'CONTEXT_OVERFLOW', reason: 'context_overflow', message: what };
}
