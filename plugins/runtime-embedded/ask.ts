import { KernelError, type Run } from '../../kernel/index.ts';
import { AskModel, attemptOf, type ModelEvent, type ModelReply, type ToolSpec, wishesOf } from '../models/contract.ts';
import { type AssistantPart, type Message, newEntryId } from '../sessions/contract.ts';
import { type Ended, type TurnInput, whyOf } from '../turns/contract.ts';
import { leftBehind, untilLeft } from './settle.ts';
import type { Settings } from './settings.ts';
import { untilDecided } from './silence.ts';

export interface Asked {
  /** The message's, in events and in the transcript. */
  readonly id: string;
  readonly reply: ModelReply;
  /** Whether the message was announced. */
  readonly isShown: boolean;
}

interface Around {
  readonly settings: Pick<Settings, 'graceMs'>;
  readonly ended: (one: Ended) => void;
}

/** One request. The message is announced with its first delta, under the id it will have in the transcript. */
export async function ask(
  input: TurnInput,
  run: Run,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  { settings, ended }: Around,
): Promise<Asked> {
  const { turn, system, emit } = input;
  const { model } = turn;
  const id = newEntryId();
  const heard = hearing();
  let [isShown, isOver] = [false, false];
  const { on, settle } = untilDecided(({ type: kind, index, delta, ...rest }: ModelEvent) => {
    if (!isShown) emit('message_start', { messageId: id, role: 'assistant' });
    isShown = true;
    emit('message_update', { messageId: id, kind, index, delta, ...('name' in rest && { name: rest.name }) });
  });
  const hear = (event: ModelEvent) => {
    if (isOver) return;
    heard.add(event);
    on(event);
  };
  const facts = { model, system, messages, tools, search: {}, signal: run.signal, sessionId: turn.sessionId };
  const request = { ...facts, ...wishesOf(run, turn.agentId) };
  const answer = await untilLeft(run.call(AskModel, { request, on: hear }), run.signal, settings.graceMs);
  isOver = true;
  settle();
  if (run.signal.aborted) {
    const how = answer === leftBehind ? 'left' : 'ended';
    ended({ kind: 'model', id, name: `${model.provider}/${model.id}`, how, why: whyOf(run.signal) });
  }
  if (answer === leftBehind) return { id, isShown, reply: stopped(model, heard.content()) };
  if (!answer) throw new KernelError('MODELS_OFF', 'no plugin asks models; switch on "models"');
  // What was shown is kept, also where whoever asked gave up on a model that did not listen.
  const isLost = answer.failure && answer.message.content.length === 0;
  return { id, reply: isLost ? { ...answer, message: { ...answer.message, content: heard.content() } } : answer, isShown };
}

/** Whoever asked did not listen to the stop: what was heard of the text is all there is. */
function stopped(model: TurnInput['turn']['model'], content: readonly AssistantPart[]): ModelReply {
  const { message, failure } = attemptOf(model, { content }, { code: 'MODEL_ABORTED', message: 'stopped' });
  return { message, ...(failure && { failure }) };
}

/** The text of a reply as it comes. */
function hearing() {
  const texts = new Map<number, string>();
  return {
    add({ type, index, delta }: ModelEvent) {
      if (type === 'text') texts.set(index, (texts.get(index) ?? '') + delta);
    },
    content: (): readonly AssistantPart[] => [...texts.values()].map((text) => ({ type: 'text', text })),
  };
}
