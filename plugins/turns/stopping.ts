import { type Log, messageOf, type Run } from '../../kernel/index.ts';
import { type Ended, type TurnOutcome, TurnStopped, whyOf } from './contract.ts';
import { noUsage } from './outcomes.ts';

/** With the second that a transcript and an answer need, a stop settles within five (SPEC 6.4). */
const graceMs = 4000;

/**
 * A turn with all that works in its name as one tree: a stop reaches the model and the tools by the run's signal, the rest
 * by `TurnStopped`. The outcome, and the log, say what was ended and what was left behind.
 */
export async function stoppable(run: Run, log: Log, work: () => Promise<TurnOutcome>, graceTimeMs = graceMs): Promise<TurnOutcome> {
  let beside: Promise<readonly Ended[]> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const left = Promise.withResolvers<TurnOutcome>();
  const why = () => whyOf(run.signal);
  const stop = () => {
    beside = endedBeside(run, log, graceTimeMs);
    timer = setTimeout(() => left.resolve({ ...nothing, ended: [leftRuntime(run, why())] }), graceTimeMs + 500);
  };
  if (run.signal.aborted) stop();
  else run.signal.addEventListener('abort', stop, { once: true });
  try {
    const own = work().catch((cause: unknown): TurnOutcome => {
      if (!run.signal.aborted) throw cause;
      return nothing;
    });
    const outcome = await Promise.race([own, left.promise]);
    const ended = [...(outcome.ended ?? []), ...((await beside) ?? [])];
    if (ended.length) log.info(`turn ${run.id}: ${ended.map(sayOf).join(', ')}`, { runId: run.id, ended });
    return ended.length ? { ...outcome, ended } : outcome;
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', stop);
  }
}

const nothing: TurnOutcome = { payloads: [], usage: noUsage, stopReason: 'aborted' };

/** The whole of it, where it ends its own parts no more. */
const leftRuntime = ({ id }: Run, why: Ended['why']): Ended => ({ kind: 'runtime', id, name: 'the runtime', how: 'left', why });

async function endedBeside(run: Run, log: Log, ms: number): Promise<readonly Ended[]> {
  const late = Promise.withResolvers<readonly Ended[]>();
  const timer = setTimeout(() => {
    log.warn('what works beside a stopped turn did not end in time; it was left behind', { runId: run.id });
    late.resolve([]);
  }, ms);
  try {
    return await Promise.race([run.call(TurnStopped, []), late.promise]);
  } catch (cause) {
    log.error(`what works beside a stopped turn could not be ended: ${messageOf(cause)}`, { error: cause, runId: run.id });
    return [];
  } finally {
    clearTimeout(timer);
  }
}

const sayOf = ({ kind, name, how, why }: Ended) => `${how === 'left' ? 'left behind' : 'ended'} ${kind} ${name} (${why})`;
