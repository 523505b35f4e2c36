import type { Standing } from '../../../plugins/auth-profiles/contract.ts';
import type { Candidate } from '../../../plugins/failover/chain.ts';
import type { FailoverError } from '../../../plugins/failover/contract.ts';
import type { Step } from '../../../plugins/failover/step.ts';
import { walk } from '../../../plugins/failover/walk.ts';
import { attemptOf, type FailureReason, type Model, type ModelFailure, type ModelReply } from '../../../plugins/models/contract.ts';

/** `a/1`: model 1 of provider a. */
const modelOf = (ref: string): Model => {
  const [provider = '', id = ''] = ref.split('/');
  return { provider, id, name: id, api: 'x', baseUrl: 'x:', contextWindow: 1, maxTokens: 1, input: ['text'], reasoning: false };
};
const usage = (n: number) => ({ input: n, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: n + 1 });

/** How an attempt ends: `ok`, a reason, `reason!` where it is the model's, `reason+text` where text was shown before; `refused`: not admitted; `stop`: the user's stop comes. */
export type Ending = string;

export interface World {
  readonly chain: readonly string[];
  /** Profiles by provider; `p*`: it rests, and is ready after so many as there are stars. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
  readonly ending: (ref: string, profile: string, nth: number) => Ending;
  readonly patienceMs?: number;
  /** What a server that fails says of coming again. */
  readonly retryAfterMs?: (ref: string, profile: string) => number | undefined;
  /** The user's stop comes while it is waited. */
  readonly stopsWait?: boolean;
}

/** Runs an ask in a world of which only the walk is real; profiles rest as the real ones do. */
export async function ask({ chain, profiles, ending, patienceMs = 0, retryAfterMs = () => undefined, stopsWait = false }: World) {
  const asked: string[] = [];
  const abort = new AbortController();
  const resting = new Map<string, FailureReason>();
  let pauses = 0;
  const waits: string[] = [];
  let clock = 0;
  const standingsOf = (model: Model): readonly Standing[] => {
    const all = (profiles[model.provider] ?? ['only']).map((name): Standing => {
      const id = name.replace(/\*+$/, '');
      const profile = { id, provider: model.provider, mode: 'api_key', origin: 'config' } as const;
      const reason = name.endsWith('*') ? 'rate_limit' : (resting.get(id) ?? resting.get(`${id} ${model.id}`));
      if (reason) return { profile, usable: false, readyAt: 1000 * (name.length - id.length || 50), reason, errors: 1, why: 'rests' };
      return { profile, usable: true, errors: 0, why: 'next' };
    });
    return all.toSorted((x, y) => (x.usable ? 0 : x.readyAt!) - (y.usable ? 0 : y.readyAt!));
  };
  const candidates = chain.map(
    (ref): Candidate => ({
      ref,
      why: 'test',
      model: async () => (ref.startsWith('?') ? Promise.reject(new Error('no such model')) : modelOf(ref)),
    }),
  );
  const attempt = async ({ ref, standing, isProbe }: Step) => {
    asked.push(`${ref} ${standing.profile.id}${isProbe ? ' probe' : ''}`);
    const end = ending(ref, standing.profile.id, asked.length);
    const model = modelOf(ref);
    if (end === 'stop') abort.abort();
    if (end === 'ok')
      return {
        reply: { message: attemptOf(model, { content: [{ type: 'text', text: ref }], usage: usage(asked.length) }).message },
        isShown: true,
      };
    const [name = '', shown] = end.split('+');
    const reason = name.replace('!', '') as FailureReason;
    const retry = retryAfterMs(ref, standing.profile.id);
    const after = retry !== undefined && { retryAfterMs: retry };
    const failure: ModelFailure =
      name === 'stop'
        ? { code: 'MODEL_ABORTED', message: 'stopped' }
        : name === 'refused'
          ? { code: 'BUDGET_EXCEEDED', message: 'too dear' }
          : { code: 'MODEL_HTTP', message: `${ref} said ${name}`, reason, ...(name.endsWith('!') && { perModel: true }), ...after }; // prettier-ignore
    const content = shown ? [{ type: 'text', text: 'half' } as const] : [];
    const reply: ModelReply = { message: attemptOf(model, { content, usage: usage(asked.length) }, failure).message, failure };
    return { reply, isShown: shown !== undefined };
  };
  const reply = await walk({
    chain: candidates,
    signal: abort.signal,
    standingsOf,
    attempt,
    now: () => clock,
    pause: async () => void pauses++,
    patienceMs,
    async wait({ ref, standing }, ms) {
      waits.push(`${ref} ${standing.profile.id} ${ms}`);
      if (stopsWait) abort.abort();
      else clock += ms;
    },
    async ended({ model, standing }, { reply: { failure } }) {
      const rests = failure?.reason && !['format', 'context_overflow', 'unknown'].includes(failure.reason);
      if (rests) resting.set(failure.perModel ? `${standing.profile.id} ${model.id}` : standing.profile.id, failure.reason);
    },
  });
  return { reply, asked, pauses, waits, failure: reply.failure as FailoverError | undefined };
}

export const two = { a: ['p1', 'p2'], b: ['q'] };
export const always = (end: Ending) => () => end;
export const only = (which: string, end: Ending) => (ref: string, profile: string) => (`${ref} ${profile}`.startsWith(which) ? end : 'ok');
