import { messageOf } from '../../kernel/index.ts';
import type { Standing } from '../auth-profiles/contract.ts';
import type { FailureReason, Model } from '../models/contract.ts';
import { type Candidate, refOf } from './chain.ts';
import { secondsOf } from './seconds.ts';

/** What to ask next. */
export interface Step {
  readonly ref: string;
  readonly model: Model;
  readonly standing: Standing;
  readonly isProbe: boolean;
  /** Its rest is waited out first. Milliseconds since 1970. */
  readonly readyAt?: number;
  /** Why it rests. */
  readonly reason?: FailureReason;
  readonly why: string;
}

/** What an ask has behind it. */
export interface Behind {
  /** `step` keys that were asked. */
  readonly asked: ReadonlySet<string>;
  /** Models that are of no use to this request, whatever the profile. */
  readonly givenUp: ReadonlySet<string>;
  /** Profiles that failed just now, whatever the model. */
  readonly spoiled: ReadonlySet<string>;
  /** By `step` key: who had too much to do. */
  readonly busy: ReadonlyMap<string, Busy>;
}

export interface Busy {
  readonly reason: FailureReason;
  /** When its server takes the same again; undefined: when its rest is over. */
  readonly readyAt?: number;
}

/** Of who has asked nothing yet. */
export const nothingBehind: Behind = { asked: new Set(), givenUp: new Set(), spoiled: new Set(), busy: new Map() };

export interface Patience {
  readonly now: number;
  /** The longest rest that is waited out. */
  readonly patienceMs: number;
}

export type StandingsOf = (model: Model) => readonly Standing[];

export const keyOf = (ref: string, profile: string) => `${ref} ${profile}`;

/** SPEC 7.4: the first usable profile of the first model of the chain. Profiles change before models do. */
export async function nextStep(chain: readonly Candidate[], standingsOf: StandingsOf, behind: Behind): Promise<Step | undefined> {
  for (const candidate of chain) {
    if (behind.givenUp.has(candidate.ref)) continue;
    const model = await candidate.model().catch(() => undefined);
    const standing =
      model && standingsOf(model).find(({ usable, profile }) => usable && !behind.asked.has(keyOf(refOf(model), profile.id)));
    if (model && standing) return { ref: refOf(model), model, standing, isProbe: false, why: `${candidate.why}; ${standing.why}` };
  }
  return undefined;
}

/** Where all that is left rests, and one of it not for long: that one, after its rest. Also what was asked, where it was only busy. */
export async function soonStep(
  chain: readonly Candidate[],
  standingsOf: StandingsOf,
  { asked, givenUp, spoiled, busy }: Behind,
  { now, patienceMs }: Patience,
): Promise<Step | undefined> {
  let found: (Step & { readonly readyAt: number }) | undefined;
  for (const candidate of chain) {
    if (givenUp.has(candidate.ref) || patienceMs === 0) continue;
    const model = await candidate.model().catch(() => undefined);
    for (const standing of model ? standingsOf(model) : []) {
      const key = keyOf(candidate.ref, standing.profile.id);
      const isOut = asked.has(key) ? !busy.has(key) : spoiled.has(standing.profile.id);
      const readyAt = busy.get(key)?.readyAt ?? standing.readyAt;
      const reason = busy.get(key)?.reason ?? standing.reason;
      if (!model || isOut || readyAt === undefined || readyAt - now > patienceMs || readyAt >= (found?.readyAt ?? Infinity)) continue;
      const why = `all of the chain rests and this is ready in ${secondsOf(readyAt - now)}: that is waited for (${standing.why})`;
      found = { ref: candidate.ref, model, standing, isProbe: true, readyAt, why, ...(reason && { reason }) };
    }
  }
  return found;
}

/** SPEC 7.8: where all that is left rests, what is ready soonest is asked all the same. */
export async function probeStep(chain: readonly Candidate[], standingsOf: StandingsOf, behind: Behind): Promise<Step | undefined> {
  let found: Step | undefined;
  for (const candidate of chain) {
    if (behind.givenUp.has(candidate.ref)) continue;
    const model = await candidate.model().catch(() => undefined);
    for (const standing of model ? standingsOf(model) : []) {
      if (!model || behind.spoiled.has(standing.profile.id) || behind.asked.has(keyOf(refOf(model), standing.profile.id))) continue;
      const readyAt = standing.usable ? 0 : (standing.readyAt ?? Infinity);
      if (readyAt >= (found?.standing.readyAt ?? Infinity)) continue;
      found = {
        ref: refOf(model),
        model,
        standing,
        isProbe: true,
        why: `all of the chain rests and this is ready soonest: it is tried (${standing.why})`,
      };
    }
  }
  return found;
}

/** Of a model that cannot be asked: why. */
export const problemOf = (candidate: Candidate): Promise<string | undefined> => candidate.model().then(() => undefined, messageOf);
