import { KernelError, type Run, type Tool } from '../../kernel/index.ts';
import { AskModel, type ModelEvent, type ModelReply, type ToolSpec } from '../models/contract.ts';
import { type AssistantMessage, type Message, newEntryId, type ToolCallPart, type Usage } from '../sessions/contract.ts';
import { payloadsOf, type TurnInput, type TurnOutcome } from '../turns/contract.ts';
import { runCalls } from './calls.ts';
import { untilDecided } from './silence.ts';

/** Rounds of model and tools in one turn. A turn that needs more is lost, not busy. */
const maxRounds = 100;

/** SPEC 6.1: model with tools → text and calls → results → again, until no tool is asked for. */
export async function embeddedTurn(input: TurnInput, run: Run): Promise<TurnOutcome> {
  const messages: Message[] = [...input.history];
  const append = async (message: Message, id?: string) => {
    await input.append(message, id);
    messages.push(message);
  };
  let usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  for (let round = 0; round < maxRounds; round++) {
    const tools = input.turn.model.compat?.supportsTools === false ? [] : (await run.tools()).tools;
    const { id, reply } = await ask(input, run, messages, specsOf(tools));
    const { message, failure } = reply;
    usage = add(usage, message.usage);
    if (message.content.length || !failure) await append(message, id);
    if (failure) return failed(input, message, failure, usage);
    const calls = message.content.filter((part): part is ToolCallPart => part.type === 'toolCall');
    if (calls.length === 0) return ended(message, usage);
    await runCalls(calls, tools, run, input.emit, append);
    if (run.signal.aborted) return { payloads: payloadsOf(message), usage, stopReason: 'aborted', final: message };
  }
  throw new KernelError('TURN_ENDLESS', `the turn was ended after ${maxRounds} rounds of tools; say how to go on`);
}

/** One request. The message is announced with its first delta, under the id it will have in the transcript. */
async function ask(input: TurnInput, run: Run, messages: readonly Message[], tools: readonly ToolSpec[]) {
  const { turn, system, emit } = input;
  const id = newEntryId();
  let started = false;
  const { on, settle } = untilDecided(({ type: kind, index, delta, ...rest }: ModelEvent) => {
    if (!started) emit('message_start', { messageId: id, role: 'assistant' });
    started = true;
    emit('message_update', { messageId: id, kind, index, delta, ...('name' in rest && { name: rest.name }) });
  });
  const request = { model: turn.model, system, messages, tools, signal: run.signal, sessionId: turn.sessionId };
  const reply = await run.call(AskModel, { request, on });
  settle();
  if (!reply) throw new KernelError('MODELS_OFF', 'no plugin asks models; switch on "models"');
  return { id, reply };
}

const specs = new WeakMap<readonly Tool[], readonly ToolSpec[]>();

/** The same list for the same tools, so that adapters can keep its wire form. */
function specsOf(tools: readonly Tool[]): readonly ToolSpec[] {
  const known = specs.get(tools) ?? tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  specs.set(tools, known);
  return known;
}

const ended = (message: AssistantMessage, usage: Usage): TurnOutcome => ({
  payloads: payloadsOf(message),
  usage,
  stopReason: message.stopReason,
  final: message,
});

/** Text that had arrived is kept and shown; the error follows it as a payload of its own. */
function failed(input: TurnInput, message: AssistantMessage, failure: NonNullable<ModelReply['failure']>, usage: Usage): TurnOutcome {
  if (failure.code === 'MODEL_ABORTED') return { payloads: payloadsOf(message), usage, stopReason: 'aborted', final: message };
  const text = `${failure.message} [${failure.code}, ${input.turn.runId}]`;
  const error = { code: failure.code, message: failure.message, ...(failure.status && { status: failure.status }) };
  return { payloads: [...payloadsOf(message), { text, isError: true }], usage, stopReason: 'error', error, final: message };
}

function add(a: Usage, b: Usage): Usage {
  const cost = (a.cost?.total ?? 0) + (b.cost?.total ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cost && { cost: { total: cost } }),
  };
}
