import type { FailureReason, ModelFailure, ModelReply } from '../models/contract.ts';
import { type Candidate, refOf } from './chain.ts';
import type { AttemptNote, FailoverError } from './contract.ts';
import { secondsOf } from './seconds.ts';
import { keyOf, problemOf, type StandingsOf } from './step.ts';

interface End {
  readonly chain: readonly Candidate[];
  readonly standingsOf: StandingsOf;
  readonly asked: ReadonlySet<string>;
  readonly notes: readonly AttemptNote[];
  readonly now: number;
  readonly last: ModelReply;
}

/** SPEC 7.4: one error that lists every attempt. Where there was one attempt and nothing else to try, its own error says all. */
export async function exhausted({ chain, standingsOf, asked, notes, now, last }: End): Promise<ModelFailure | FailoverError> {
  const left = await notAsked(chain, standingsOf, asked, now);
  const { failure } = last;
  if (failure && notes.length <= 1 && left.length === 0) return failure;
  const lines = [...notes.map(lineOf), ...left];
  const [first = failure] = notes;
  const reason: FailureReason = first?.reason ?? 'unknown';
  return {
    code: 'FAILOVER_EXHAUSTED',
    message: `no model answered: ${lines.join('; ')}`.slice(0, 2000),
    reason,
    ...(failure?.status !== undefined && { status: failure.status }),
    attempts: notes,
  } satisfies FailoverError;
}

function lineOf({ model, profile, reason, message, ms }: AttemptNote): string {
  return `${model}${profile === undefined ? '' : ` as ${profile}`}: ${reason ?? 'refused'} after ${secondsOf(ms)} (${briefly(message, model)})`;
}

/** What the provider said, else what happened: the advice of one attempt is of no use in a list. */
function briefly(message: string, model: string): string {
  const said = message.startsWith(`${model} `) ? message.slice(model.length + 1) : message;
  return (/\((HTTP \d+: .*?)\)(?:;|$)/.exec(said)?.[1] ?? said.split('; ', 1)[0] ?? '').slice(0, 200);
}

/** What was not tried, and why. */
async function notAsked(
  chain: readonly Candidate[],
  standingsOf: StandingsOf,
  asked: ReadonlySet<string>,
  now: number,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const candidate of chain) {
    const problem = await problemOf(candidate);
    if (problem !== undefined) {
      lines.push(`${candidate.ref}: not asked (${problem})`);
      continue;
    }
    const model = await candidate.model();
    for (const { profile, usable, readyAt, why } of standingsOf(model)) {
      if (usable || asked.has(keyOf(refOf(model), profile.id))) continue;
      const ready = readyAt === undefined ? '' : `, ready in ${secondsOf(readyAt - now)}`;
      lines.push(`${refOf(model)} as ${profile.id}: not asked (${why}${ready})`);
    }
  }
  return lines;
}
