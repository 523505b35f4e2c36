import type { Plan } from '../failover/contract.ts';
import type { MockServer } from './mock-server.ts';

/** What a profile is called by the key that the mock server sees. */
export const keyOf = (profile: string) => `drill-${Buffer.from(profile).toString('base64url')}`;
export const profileOf = (key: string) => Buffer.from(key.replace(/^drill-/, ''), 'base64url').toString();

/**
 * A config in which the agent's own chain and profiles are as they are, but every model is the mock's and every key is made up.
 * Nothing else of the user's config is in it: no channel, no tool, no address of a real provider.
 */
export function stagedConfig({ agentId, candidates, wanted }: Plan, mock: MockServer, cooldowns: unknown): object {
  const providers = new Map<
    string,
    { readonly ids: string[]; readonly profiles: readonly { readonly id: string; readonly isImplicit: boolean }[] }
  >();
  for (const { model, problem, profiles } of candidates) {
    const slash = model.indexOf('/');
    if (problem !== undefined || slash < 1) continue;
    const [provider, id] = [model.slice(0, slash), model.slice(slash + 1)];
    const own = profiles.map(({ profile }) => ({ id: profile.id, isImplicit: profile.origin === 'implicit' }));
    const known = providers.get(provider) ?? { ids: [], profiles: own };
    known.ids.push(id);
    providers.set(provider, known);
  }
  const named = [...providers].flatMap(([provider, { profiles }]) =>
    profiles.filter(({ isImplicit }) => !isImplicit).map(({ id }) => ({ id, provider })),
  );
  const fallbacks = candidates.slice(1).map(({ model }) => model);
  return {
    agents: { list: [{ id: agentId, model: { primary: wanted.model, fallbacks } }] },
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
    failover: { firstByteSeconds: 0.3, idleSeconds: 0.3 },
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

export const isStageable = ({ candidates }: Plan) =>
  candidates.some(({ problem, profiles }) => problem === undefined && profiles.length > 0);
