import { attemptOf, type Model, type ModelEvent, type ModelFailure, type ModelReply } from '../models/contract.ts';

export interface Deadlines {
  readonly firstMs: number;
  readonly idleMs: number;
  /** An adapter that does not end although it was told to is left behind after this. */
  readonly graceMs: number;
}

/** The time to the first sign. It stands still while somebody decides whether the request may go out. */
export interface Clock {
  stop(): void;
  /** From the beginning. */
  start(): void;
}

type Ask = (signal: AbortSignal, on: (event: ModelEvent) => void, clock: Clock) => Promise<ModelReply>;

/** One attempt that must begin, and go on, in time. A stop from outside ends it as a stop, lateness as a timeout. */
export async function inTime(
  ask: Ask,
  model: Model,
  signal: AbortSignal,
  on: (event: ModelEvent) => void,
  deadlines: Deadlines,
): Promise<ModelReply> {
  const inner = new AbortController();
  const left = Promise.withResolvers<ModelReply>();
  let late: string | undefined;
  let isOver = false;
  let grace: NodeJS.Timeout | undefined;

  const end = () => {
    inner.abort();
    grace ??= setTimeout(() => left.resolve(leftBehind(model, signal)), deadlines.graceMs);
  };
  const tooLate = (what: string, ms: number) => () => {
    late = `${what} for ${Math.round(ms / 100) / 10} s`;
    end();
  };
  const first = () => setTimeout(tooLate('no sign of an answer', deadlines.firstMs), deadlines.firstMs);
  let timer = first();
  let isBegun = false;
  const clock: Clock = {
    stop: () => void (isBegun || clearTimeout(timer)),
    start() {
      if (isBegun || isOver) return;
      clearTimeout(timer);
      timer = first();
    },
  };
  const hear = (event: ModelEvent) => {
    if (isOver || inner.signal.aborted) return;
    if (isBegun) timer.refresh();
    else {
      clearTimeout(timer);
      timer = setTimeout(tooLate('silent in mid-answer', deadlines.idleMs), deadlines.idleMs);
      isBegun = true;
    }
    on(event);
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const reply = await Promise.race([ask(inner.signal, hear, clock), left.promise]);
    const isStopped = reply.failure?.code === 'MODEL_ABORTED' && !signal.aborted;
    return isStopped && late !== undefined ? timedOut(reply, model, late) : reply;
  } finally {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(grace);
    signal.removeEventListener('abort', end);
  }
}

function leftBehind(model: Model, signal: AbortSignal): ModelReply {
  const failure: ModelFailure = { code: 'MODEL_ABORTED', message: signal.aborted ? 'was stopped' : 'did not end' };
  return { message: attemptOf(model, {}, failure).message, failure };
}

function timedOut({ message, ...reply }: ModelReply, { provider, id }: Model, late: string): ModelReply {
  const line = `${provider}/${id} gave no answer in time: ${late}; try again, or choose another model`;
  const failure: ModelFailure = { code: 'MODEL_TIMEOUT', message: line, reason: 'timeout', perModel: true };
  return { ...reply, message: { ...message, stopReason: 'error', errorMessage: line }, failure };
}
