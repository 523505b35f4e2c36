import type { Log, Run, Tool } from '../../kernel/index.ts';
import type { ModelFailure, ModelReply, ToolSpec } from '../models/contract.ts';
import { addUsage, type AssistantMessage, beginsTurn, type Message, type ToolCallPart, type Usage } from '../sessions/contract.ts';
import { answerOf, type Ended, hasDelivered, payloadsOf, type TurnInput, type TurnOutcome } from '../turns/contract.ts';
import { runCalls } from './calls.ts';
import { fitted } from './fitted.ts';
import { openGuard } from './guard.ts';
import type { Settings } from './settings.ts';
import { askAgain, failedReply, isWordless, mayAnswerYet, noteOfCut } from './wordless.ts';

/** Rounds of model and tools in one turn. A turn that needs more is lost, not busy. */
const maxRounds = 100;

/** The embedded runtime's `turn`. */
export const embedded =
  (settings: Settings, log: Log) =>
  async (input: TurnInput, run: Run): Promise<TurnOutcome> => {
    const stopped: Ended[] = [];
    const ended = (one: Ended) => void stopped.push(one);
    let waitedMs = 0;
    const waited = (ms: number) => void (waitedMs += ms);
    const outcome = await rounds(input, run, { settings, log, ended, waited });
    return { ...outcome, ...(stopped.length && { ended: stopped }), ...(waitedMs && { waitedMs }) };
  };

interface Around {
  readonly settings: Settings;
  readonly log: Log;
  readonly ended: (one: Ended) => void;
  /** For a model that rested. */
  readonly waited: (ms: number) => void;
}

/** SPEC 6.1: model with tools → text and calls → results → again, until no tool is asked for. */
async function rounds(input: TurnInput, run: Run, around: Around): Promise<TurnOutcome> {
  const messages: Message[] = [...input.history];
  // Apart from `messages`, of which compaction may take them.
  const made = turnIn(input.history);
  const append = async (message: Message, id?: string) => {
    await input.append(message, id);
    messages.push(message);
    made.push(message);
  };
  const guard = openGuard(around.settings.guard);
  let isAskedAgain = false;
  let usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  for (let round = 1; ; round++) {
    const tools = (await run.tools()).tools;
    const { id, reply: came, isShown } = await fitted(input, run, messages, specsOf(tools), around);
    usage = addUsage(usage, came.spent ?? came.message.usage);
    around.waited(came.waitedMs ?? 0);
    const isLacking = isWordless(came) && !(mayAnswerYet(came) && hasDelivered(made));
    const isDropped: boolean = isLacking && mayAnswerYet(came) && !isAskedAgain;
    const { message, failure } = isLacking && !isDropped ? failedReply(came) : came;
    if (!isDropped && (message.content.length || !failure)) await append(message, id);
    else if (isShown) input.emit('message_end', { messageId: id, message }); // nothing of it is kept, but it had begun
    isAskedAgain = isDropped;
    if (isDropped && round >= maxRounds) return failed(input, message, tooMany, usage);
    if (isDropped) {
      messages.push(askAgain());
      continue;
    }
    if (failure) return failed(input, message, failure, usage);
    const calls = message.content.filter((part): part is ToolCallPart => part.type === 'toolCall');
    if (calls.length === 0) return ended(message, usage);
    await runCalls(calls, { ...around, run, tools, guard, emit: input.emit, append });
    if (run.signal.aborted) return { payloads: payloadsOf(message), usage, stopReason: 'aborted', final: message };
    const circle = guard.ended();
    if (circle) return failed(input, message, { code: 'TURN_LOOP', message: circle }, usage);
    if (round >= maxRounds) return failed(input, message, tooMany, usage);
    const cut = noteOfCut(message, calls);
    if (cut) messages.push(cut);
    messages.push(...(await input.steered()));
  }
}

const tooMany: ModelFailure = { code: 'TURN_ENDLESS', message: `the turn was ended after ${maxRounds} rounds of tools; say how to go on` };

/** The messages of the turn under way: after a crash more than its question. */
const turnIn = (history: readonly Message[]): Message[] =>
  history.slice(
    Math.max(
      0,
      history.findLastIndex((_, i) => beginsTurn(history, i)),
    ),
  );

const specs = new WeakMap<readonly Tool[], readonly ToolSpec[]>();

/** The same list for the same tools, so that adapters can keep its wire form. */
function specsOf(tools: readonly Tool[]): readonly ToolSpec[] {
  const known = specs.get(tools) ?? tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  specs.set(tools, known);
  return known;
}

const ended = (message: AssistantMessage, usage: Usage): TurnOutcome => ({
  payloads: answerOf(message),
  usage,
  stopReason: message.stopReason,
  final: message,
});

/** Text that had arrived is kept and shown; the error follows it as a payload of its own. */
function failed(input: TurnInput, message: AssistantMessage, failure: NonNullable<ModelReply['failure']>, usage: Usage): TurnOutcome {
  if (failure.code === 'MODEL_ABORTED') return { payloads: payloadsOf(message), usage, stopReason: 'aborted', final: message };
  const text = `${failure.message} [${failure.code}, ${input.turn.runId}]`;
  const error = {
    code: failure.code,
    message: failure.message,
    ...(failure.status && { status: failure.status }),
    ...(failure.reason && { reason: failure.reason }),
  };
  return { payloads: [...payloadsOf(message), { text, isError: true }], usage, stopReason: 'error', error, final: message };
}
