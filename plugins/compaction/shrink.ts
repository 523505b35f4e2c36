import { setTimeout as pause } from 'node:timers/promises';
import { isCoded, messageOf, type Run } from '../../kernel/index.ts';
import { AskModel, attemptOf, type Model, type ModelFailure, type ModelReply } from '../models/contract.ts';
import type { Transcript, Usage } from '../sessions/contract.ts';
import { extractOf } from './extract.ts';
import { type Plan, withVerbatim } from './plan.ts';
import type { Room } from './room.ts';
import type { Settings } from './settings.ts';
import { summarise } from './summary.ts';

export interface Shrinking {
  readonly plan: Plan;
  readonly transcript: Transcript;
  readonly model: Model;
  readonly room: Room;
  readonly settings: Settings;
  readonly instructions: readonly string[];
  readonly tokensBefore: number;
  /** Without it the conversation cannot go on: then a poor summary is better than none. */
  readonly isNeeded: boolean;
}

export type Shrunk = { readonly usages: readonly Usage[] } & ({ readonly isPoor: boolean } | { readonly failure: ModelFailure });

/** Makes the summary, then writes it as one line: whatever ends the process before that, the conversation is as it was. */
export async function shrink(job: Shrinking, run: Run): Promise<Shrunk> {
  const { plan, transcript, model, room, settings, instructions, tokensBefore, isNeeded } = job;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), settings.timeoutMs);
  const signal = AbortSignal.any([run.signal, deadline.signal]);
  const work = { older: plan.older, room: { ...room, summary: plan.tokens }, instructions };
  const made = await summarise(work, (system, text, maxTokens) =>
    untilEnd(
      ask(run, { model, system, text, signal, sessionId: transcript.sessionId, maxTokens: Math.min(model.maxTokens, maxTokens) }),
      signal,
      model,
    ),
  ).finally(() => clearTimeout(timer));
  const { usages } = made;
  if (run.signal.aborted) return { usages, failure: { code: 'MODEL_ABORTED', message: 'was stopped' } };
  /** What a summary cost is told whatever becomes of it: also where the disk is full. */
  const write = async (text: string, isPoor: boolean): Promise<Shrunk> => {
    try {
      await transcript.compact({ summary: withVerbatim(text, plan), firstKeptEntryId: plan.firstKeptEntryId, tokensBefore });
      return { usages, isPoor };
    } catch (cause) {
      return { usages, failure: failureOf(cause) };
    }
  };
  if ('text' in made) return write(made.text, false);
  const failure = deadline.signal.aborted ? late(settings) : made.failure;
  if (!isNeeded || (!deadline.signal.aborted && isPassing(failure))) return { usages, failure };
  return write(extractOf(plan.older, plan.tokens, failure.message), true);
}

const failureOf = (cause: unknown): ModelFailure => ({
  code: isCoded(cause) ? cause.code : 'COMPACTION_FAILED',
  message: messageOf(cause),
});

interface Asking {
  readonly model: Model;
  readonly system: string;
  readonly text: string;
  readonly signal: AbortSignal;
  readonly sessionId: string;
  readonly maxTokens: number;
}

/** A request of its own, on the way of every request: profiles, admission and budget hold for it too. */
async function ask(run: Run, { text, ...rest }: Asking): Promise<ModelReply> {
  const messages = [{ role: 'user', content: text, timestamp: Date.now() }] as const;
  // A fault on the way is no provider's, and ends no more than a failure would.
  const reply = await run
    .call(AskModel, { request: { ...rest, messages, tools: [] }, on() {} })
    .catch((cause: unknown) => failed(rest.model, failureOf(cause)));
  return (
    reply ??
    failed(rest.model, { code: 'COMPACTION_FAILED', reason: 'model_not_found', message: 'no plugin asks models; switch on "models"' })
  );
}

/** Who does not listen to the signal is not waited for. */
async function untilEnd(reply: Promise<ModelReply>, signal: AbortSignal, model: Model): Promise<ModelReply> {
  const done = new AbortController();
  const stopped = pause(2 ** 31 - 1, undefined, { signal: AbortSignal.any([signal, done.signal]), ref: false }).then(
    () => reply,
    () => (done.signal.aborted ? reply : failed(model, { code: 'MODEL_ABORTED', message: 'was stopped' })),
  );
  try {
    return await Promise.race([reply, stopped]);
  } finally {
    done.abort();
  }
}

function failed(model: Model, failure: ModelFailure): ModelReply {
  return { message: attemptOf(model, {}, failure).message, failure };
}

const late = ({ timeoutMs }: Settings): ModelFailure => ({
  code: 'COMPACTION_FAILED',
  message: `the summary was not there after ${Math.round(timeoutMs / 1000)} s`,
});

const passing = new Set(['rate_limit', 'auth', 'billing', 'overloaded', 'timeout', 'model_not_found']);

/** The model cannot be had now: the turn's own request would fare no better, and the next one may have a good summary. */
const isPassing = ({ reason }: ModelFailure): boolean => reason === undefined || passing.has(reason);
