import { isCoded, messageOf } from '../../kernel/index.ts';
import { addUsage, type Usage } from '../sessions/contract.ts';
import { attemptOf, type Credential, type FailureReason, type ModelFailure, type ModelReply } from '../models/contract.ts';
import type { Candidate } from './chain.ts';
import type { AttemptNote } from './contract.ts';
import { exhausted } from './exhausted.ts';
import { type Busy, keyOf, nextStep, probeStep, soonStep, type StandingsOf, type Step } from './step.ts';

/** What came of one attempt. `isShown`: text of it was shown, which cannot be taken back. */
export interface Tried {
  readonly reply: ModelReply;
  /** What it was asked with; absent where that was not needed, or not to be had in time. */
  readonly credential?: Credential | undefined;
  readonly isShown: boolean;
}

export interface Walk {
  readonly chain: readonly Candidate[];
  readonly signal: AbortSignal;
  readonly standingsOf: StandingsOf;
  /** Never rejects. */
  readonly attempt: (step: Step) => Promise<Tried>;
  /** Is told of every attempt but those that were stopped. True: it may be asked again at once, with another secret. */
  readonly ended: (step: Step, tried: Tried, beganAt: number) => Promise<boolean | undefined>;
  /** Before the same is asked again. */
  readonly pause: () => Promise<void>;
  /** The longest rest that is waited out, once, where all else has failed. */
  readonly patienceMs: number;
  /** Until then. Ends early where `signal` aborts; never rejects. */
  readonly wait: (step: Step, ms: number) => Promise<void>;
  readonly now: () => number;
}

type Verdict = 'again' | 'next profile' | 'next model' | 'stop';

const verdicts: Readonly<Record<FailureReason, Verdict>> = {
  rate_limit: 'next profile',
  auth: 'next profile',
  billing: 'next profile',
  timeout: 'next profile',
  overloaded: 'next profile',
  model_not_found: 'next model',
  format: 'stop',
  context_overflow: 'stop',
  unknown: 'again',
};

/** How long a server that had too much to do for a moment, and does not say for how long, is left alone before it is asked again. */
const hiccupMs = 2_000;

/** SPEC 7.4. */
function verdictOn({ reason, perModel }: ModelFailure, isAgain: boolean): Verdict {
  if (reason === undefined) return 'stop'; // stopped, or not admitted: no other model changes that
  if (reason === 'format' && perModel) return 'next model';
  return reason === 'unknown' && isAgain ? 'stop' : verdicts[reason];
}

/** Asks along the chain until one answers or nothing is left. Each profile of each model is asked once, what fails for no known reason twice. */
export async function walk({ chain, signal, standingsOf, attempt, ended, pause, patienceMs, wait, now }: Walk): Promise<ModelReply> {
  const asked = new Set<string>();
  const givenUp = new Set<string>();
  const spoiled = new Set<string>();
  const busy = new Map<string, Busy>();
  const anew = new Set<string>();
  const behind = { asked, givenUp, spoiled, busy };
  const notes: AttemptNote[] = [];
  const spent: Usage[] = [];
  let last: ModelReply | undefined;
  let again: Step | undefined;
  let isProbed = false;
  let waitedMs: number | undefined;

  const nothing = async () => {
    const [first] = (await Promise.all(chain.map((one) => one.model().catch(() => undefined)))).filter((model) => model !== undefined);
    if (!first) throw new Error('no model of the chain can be had');
    const failure: ModelFailure = { code: 'MODEL_NO_KEY', message: 'no profile of it can be used', reason: 'auth' };
    return { message: attemptOf(first, {}, failure).message, failure };
  };
  const stopped = async (): Promise<ModelReply | undefined> => {
    if (!signal.aborted) return undefined;
    const failure: ModelFailure = { code: 'MODEL_ABORTED', message: 'was stopped' };
    const { message } = last ?? (await nothing());
    return { message: { ...message, stopReason: 'aborted', errorMessage: failure.message }, failure };
  };
  const sum = (reply: ModelReply): ModelReply => ({
    ...reply,
    ...(spent.length > 1 && { spent: spent.reduce(addUsage) }),
    ...(waitedMs !== undefined && { waitedMs }),
  });
  const soon = () => (waitedMs === undefined ? soonStep(chain, standingsOf, behind, { now: now(), patienceMs }) : undefined);
  const probe = () => (isProbed ? undefined : probeStep(chain, standingsOf, behind));
  const failed = async () => {
    const failure = await exhausted({ chain, standingsOf, asked, notes, now: now(), last: last ?? (await nothing()) });
    const { message } = last ?? (await nothing());
    return sum({ message: { ...message, errorMessage: failure.message }, failure });
  };

  for (;;) {
    const step: Step | undefined = again ?? (await nextStep(chain, standingsOf, behind)) ?? (await soon()) ?? (await probe());
    if (step?.readyAt !== undefined && !again) {
      const waitsAt = now();
      await wait(step, Math.max(0, step.readyAt - waitsAt));
      waitedMs = now() - waitsAt;
    }
    const end = await stopped();
    if (end) return sum(end);
    if (!step) return failed();
    isProbed ||= step.isProbe && step.readyAt === undefined;
    const key = keyOf(step.ref, step.standing.profile.id);
    asked.add(key);
    const [began, beganAt] = [performance.now(), now()];
    const tried = await attempt(step);
    const { reply, isShown } = tried;
    last = reply;
    spent.push(reply.message.usage);
    const { failure } = reply;
    if (failure?.code === 'MODEL_ABORTED' && signal.aborted) return sum(reply);
    const isAnew = await ended(step, tried, beganAt);
    if (!failure) return sum(reply);
    notes.push(noteOf(step, failure, performance.now() - began));
    const verdict = verdictOn(failure, again !== undefined);
    const isOnly = verdict === 'stop' && notes.length === 1;
    if (isOnly || isShown || failure.reason === undefined || failure.reason === 'context_overflow') return sum(reply);
    if (verdict === 'stop') return failed();
    if (isAnew && !anew.has(key)) {
      again = undefined;
      anew.add(key);
      asked.delete(key);
      if (step.isProbe) isProbed = false;
      continue;
    }
    if (failure.reason === 'rate_limit' || failure.reason === 'overloaded') {
      const restMs = failure.retryAfterMs ?? (failure.reason === 'overloaded' ? hiccupMs : undefined);
      const { reason } = failure;
      busy.set(key, { reason, ...(restMs !== undefined && { readyAt: now() + restMs }) });
    }
    if (verdict === 'next profile' && !failure.perModel) spoiled.add(step.standing.profile.id);
    if (verdict === 'next model') givenUp.add(step.ref);
    again = verdict === 'again' ? step : undefined;
    if (again) await pause();
  }
}

function noteOf({ ref, standing }: Step, { reason, code, message }: ModelFailure, ms: number): AttemptNote {
  return { model: ref, profile: standing.profile.id, code, message, ms: Math.round(ms), ...(reason && { reason }) };
}

/** A failure on our own side that came before the request: of the profile where it says so, else of nobody. */
export function failureOf(cause: unknown): ModelFailure {
  const code = isCoded(cause) ? cause.code : 'ADAPTER_FAILED';
  const failure = { code, message: messageOf(cause) };
  if (code === 'AUTH_ENDPOINT_DOWN') return { ...failure, reason: 'timeout' };
  return /^(?:AUTH|SECRET)_/.test(code) ? { ...failure, reason: 'auth' } : failure;
}
