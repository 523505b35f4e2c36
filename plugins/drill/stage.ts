import type { Standing } from '../auth-profiles/contract.ts';
import type { Plan } from '../failover/contract.ts';
import type { MockServer } from './mock-server.ts';

/** What a profile is called by the key that the mock server sees. */
export const keyOf = (profile: string) => `drill-${Buffer.from(profile).toString('base64url')}`;
export const profileOf = (key: string) => Buffer.from(key.replace(/^drill-/, ''), 'base64url').toString();

/** What of the user's config is as it is, too. */
export interface Kept {
  readonly cooldowns?: unknown;
  readonly waitSeconds?: unknown;
}

/** A first rest. Shorter patience waits for none of them. */
const firstRestSeconds = 30;

/** What a person should know before a drill that says nothing for long. */
export const waitNotice = ({ waitSeconds }: Kept): string | undefined =>
  typeof waitSeconds === 'number' && waitSeconds >= firstRestSeconds
    ? `where everything rests, a scene may wait up to ${waitSeconds} s, as failover.waitSeconds says; there are several`
    : undefined;

/** One that can never be used as it is, such as a token that nobody signed in for, is not on stage. */
const canPlay = ({ usable, readyAt }: Standing) => usable || readyAt !== undefined;

/** The candidates that could be asked, with the profiles that could be used. */
export const castOf = ({ candidates }: Plan): Plan['candidates'] =>
  candidates
    .map((one) => ({ ...one, profiles: one.profiles.filter(canPlay) }))
    .filter(({ problem, profiles }) => problem === undefined && profiles.length > 0);

/**
 * A config in which the agent's own chain and profiles are as they are, but every model is the mock's and every key is made up.
 * Nothing else of the user's config is in it: no channel, no tool, no address of a real provider.
 */
export function stagedConfig(plan: Plan, mock: MockServer, { cooldowns, waitSeconds }: Kept): object {
  const [first, ...further] = castOf(plan).map(({ model }) => model);
  const providers = new Map<
    string,
    { readonly ids: string[]; readonly profiles: readonly { readonly id: string; readonly isImplicit: boolean }[] }
  >();
  for (const { model, profiles } of castOf(plan)) {
    const slash = model.indexOf('/');
    if (slash < 1) continue;
    const [provider, id] = [model.slice(0, slash), model.slice(slash + 1)];
    const own = profiles.map(({ profile }) => ({ id: profile.id, isImplicit: profile.origin === 'implicit' }));
    const known = providers.get(provider) ?? { ids: [], profiles: own };
    known.ids.push(id);
    providers.set(provider, known);
  }
  const named = [...providers].flatMap(([provider, { profiles }]) =>
    profiles.filter(({ isImplicit }) => !isImplicit).map(({ id }) => ({ id, provider })),
  );
  return {
    agents: { list: [{ id: plan.agentId, model: { primary: first, fallbacks: further } }] },
    models: {
      providers: Object.fromEntries(
        [...providers].map(([provider, { ids, profiles }]) => [provider, block(provider, ids, profiles, mock)]),
      ),
    },
    auth: {
      profiles: Object.fromEntries(named.map(({ id, provider }) => [id, { provider, mode: 'api_key', apiKey: keyOf(id) }])),
      order: Object.fromEntries(
        Map.groupBy(named, ({ provider }) => provider)
          .entries()
          .map(([provider, all]) => [provider, all.map(({ id }) => id)]),
      ),
      ...(cooldowns !== undefined && { cooldowns }),
    },
    failover: { firstByteSeconds: 0.6, idleSeconds: 0.6, ...(waitSeconds !== undefined && { waitSeconds }) },
  };
}

function block(
  provider: string,
  ids: readonly string[],
  profiles: readonly { readonly id: string; readonly isImplicit: boolean }[],
  mock: MockServer,
) {
  const implicit = profiles.find(({ isImplicit }) => isImplicit);
  return {
    baseUrl: mock.urlOf(provider),
    api: 'openai-completions',
    models: ids.map((id) => ({ id })),
    ...(implicit && { apiKey: keyOf(implicit.id) }),
  };
}

export const isStageable = (plan: Plan) => castOf(plan).length > 0;
