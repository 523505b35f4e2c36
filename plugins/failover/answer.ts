import { setTimeout as pause } from 'node:timers/promises';
import { type Log, messageOf, type Run } from '../../kernel/index.ts';
import { AuthProfiles, type Standing } from '../auth-profiles/contract.ts';
import { Events } from '../events/contract.ts';
import {
  attemptOf,
  type Credential,
  type Model,
  type ModelAsk,
  type ModelEvent,
  type ModelReply,
  Models,
  type UnsignedRequest,
} from '../models/contract.ts';
import { Turn } from '../turns/contract.ts';
import { chainOf, refOf } from './chain.ts';
import { type Clock, type Deadlines, inTime } from './deadline.ts';
import { secondsOf } from './seconds.ts';
import type { Step } from './step.ts';
import type { Switches } from './switches.ts';
import { failureOf, type Tried, walk } from './walk.ts';

export interface Means {
  readonly deadlines: () => Deadlines;
  /** Of attempts under way, by their signal. */
  readonly clocks: WeakMap<AbortSignal, Clock>;
  readonly patienceMs: number;
  readonly switches: Switches;
  readonly random: () => number;
  readonly log: Log;
}

/** The profiles of a model's provider; without the plugin that knows them, the provider's own key. */
export function standingsIn(run: Run, sessionId: string | undefined): (model: Model) => readonly Standing[] {
  const profiles = run.find(AuthProfiles);
  return ({ provider, id }) => profiles?.standing(run, { provider, model: id, sessionId }) ?? [implicit(provider)];
}

const implicit = (provider: string): Standing => ({
  profile: { id: `${provider}:default`, provider, mode: 'api_key', origin: 'implicit' },
  usable: true,
  errors: 0,
  why: 'the only profile',
});

/** The way from a turn to a reply, over profiles and models. */
export async function answer({ request, on }: ModelAsk, run: Run, means: Means): Promise<ModelReply> {
  const { model: wanted, sessionId, signal } = request;
  const turn = run.find(Turn);
  const missing = turn?.model === wanted ? turn.modelMissing : undefined;
  const wantedRef = missing?.ref ?? refOf(wanted);
  const chain = chainOf(run, {
    model: wanted,
    why: 'wanted',
    agentId: turn?.agentId ?? run.subject.agent,
    isAsked: turn?.modelAsked === true,
    missing,
  });
  let why: string | undefined = missing && 'model_not_found';
  return walk({
    chain,
    signal,
    now: Date.now,
    standingsOf: standingsIn(run, sessionId),
    pause: () => pause(250 * (1 + means.random()), undefined, { signal }).catch(() => {}), // stopped: the walk sees it
    patienceMs: means.patienceMs,
    async wait({ ref, standing, reason = 'rate_limit' }, ms) {
      means.log.info(`all models rest; waiting ${secondsOf(ms)} for ${ref} as ${standing.profile.id} (${reason})`, { runId: turn?.runId });
      publish(run, 'model_waiting', { model: ref, profile: standing.profile.id, reason, ms });
      // A little longer, each time otherwise: not all sessions ask at one moment.
      await pause(ms + 250 * means.random(), undefined, { signal }).catch(() => {});
    },
    attempt: (step) => attempt(step, { request, on }, run, means, () => tell(run, means, turn, { wanted, wantedRef, step, why })),
    async ended({ ref, model, standing }, { reply: { failure }, credential }, beganAt) {
      if (ref === wantedRef) why = failure?.reason;
      // What was not admitted, such as by a budget, is told by whoever asked: it says nothing of the model.
      if (failure?.reason)
        means.log.warn(`${ref} as ${standing.profile.id}: ${failure.reason}: ${failure.message}`, {
          code: failure.code,
          runId: turn?.runId,
        });
      const end = {
        profile: standing.profile.id,
        origin: standing.profile.origin,
        provider: model.provider,
        model: model.id,
        sessionId,
        beganAt,
        credential,
        ...(failure && { failure }),
      };
      // A full disk is no reason to throw an answer away.
      return run
        .find(AuthProfiles)
        ?.report(run, end)
        .catch((error: unknown) => {
          means.log.warn(`what came of ${ref} could not be kept: ${messageOf(error)}`);
          return false;
        });
    },
  });
}

async function attempt({ model, standing }: Step, { request, on }: ModelAsk, run: Run, means: Means, answers: () => void): Promise<Tried> {
  let [isShown, isBegun] = [false, false];
  let credential: Credential | undefined; // of this attempt: one that is left behind may still get its own
  const hear = (event: ModelEvent) => {
    if (!isBegun) answers();
    isBegun = true;
    isShown ||= event.type === 'text' && event.delta !== '';
    on(event);
  };
  const reply = await asked().catch((cause: unknown): ModelReply => {
    const failure = failureOf(cause);
    return { message: attemptOf(model, {}, failure).message, failure };
  });
  if (!reply.failure && !isBegun) answers();
  if (isBegun && !isShown && reply.failure && !request.signal.aborted)
    publish(run, 'reply_restarted', { reason: reply.failure.reason ?? 'unknown' });
  return { reply, isShown, credential };

  async function asked(): Promise<ModelReply> {
    const own = await suited(request, model, run);
    // A token may have to be renewed first: that is part of what must be in time, and of what a stop ends.
    const ask = async (signal: AbortSignal, told: (event: ModelEvent) => void, clock: Clock) => {
      means.clocks.set(signal, clock);
      credential = await run.find(AuthProfiles)?.credential(run, standing.profile);
      return run.get(Models).complete(run, { ...own, model, signal, ...(credential && { credential }) }, told);
    };
    return inTime(ask, model, request.signal, hear, means.deadlines());
  }
}

/** Another provider's model is offered no tool that policy would not offer it. */
async function suited(request: UnsignedRequest, model: Model, run: Run): Promise<UnsignedRequest> {
  if (model === request.model || request.tools.length === 0) return request;
  const { tools } = await run.as({ subject: { ...run.subject, provider: model.provider, model: model.id } }).tools();
  const offered = new Set(tools.map(({ name }) => name));
  const kept = request.tools.filter(({ name }) => offered.has(name));
  return kept.length === request.tools.length ? request : { ...request, tools: kept };
}

interface Change {
  readonly wanted: Model;
  /** Another than that of `wanted` where what the config names cannot be had. */
  readonly wantedRef: string;
  readonly step: Step;
  readonly why: string | undefined;
}

/** SPEC 7.8: every change of the model that answers a session is shown, and so is the way back. */
function tell(run: Run, { switches, log }: Means, turn: Turn | undefined, { wanted, wantedRef, step, why }: Change) {
  if (!turn) return;
  const change = switches.note(turn.sessionId, wantedRef, step.ref);
  if (!change) return;
  const { from, to, isBack } = change;
  const reason = why ?? standingsIn(run, turn.sessionId)(wanted).find((standing) => standing.reason)?.reason ?? 'unknown';
  log.info(isBack ? `${to} answers again, no longer ${from}` : `${to} answers in place of ${from}: ${reason}`, {
    sessionKey: turn.sessionKey,
    runId: turn.runId,
  });
  publish(run, 'model_switched', { from, to, isBack, ...(!isBack && { reason }) });
}

function publish(run: Run, type: string, data: Readonly<Record<string, unknown>>) {
  const turn = run.find(Turn);
  if (turn) run.find(Events)?.publish({ type, sessionKey: turn.sessionKey, runId: turn.runId, data });
}
