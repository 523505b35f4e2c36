import { channel } from 'node:diagnostics_channel';
import { Host, nearest, type Run } from '../../kernel/index.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { Models } from '../models/contract.ts';
import { isSecretRef, secretChannel } from '../secrets/contract.ts';
import type { AuthLine, Profile, ProfileMode } from './contract.ts';
import type { Ledger } from './ledger.ts';
import type { StoredSecret, Tokens } from './profile-rows.ts';
import { notesOf, ownKeyOf } from './adding.ts';
import { type Facts, lackOf, profilesOf, standingsOf } from './standing.ts';

type Params = Parameters<Method>[0];

/** The methods of `contract.ts`. `trust`: what was wrong with the tokens of these profiles no longer counts. */
export function authMethods(
  facts: () => Facts,
  ledger: Ledger,
  trust: (isMeant: (id: string) => boolean) => void,
): Readonly<Record<string, Method>> {
  return {
    'auth.list': async (params, _client, run) => ({ profiles: await lines(run, facts(), wordOf(params, 'provider')) }),
    async 'auth.add'(params, _client, run) {
      const provider = required(params, 'provider');
      const own = await ownKeyOf(run, provider, facts());
      const id = await add(params, facts(), ledger, run);
      trust((one) => one === id);
      return { id, notes: [...unused(id, provider, facts()), ...(await notesOf(run, provider, own))] };
    },
    async 'auth.remove'(params) {
      const id = required(params, 'id');
      const written = facts().config.profiles?.[id];
      const stands = written !== undefined && written.provider === ledger.profiles.get(id)?.provider;
      if (!(await ledger.remove(id, stands)))
        throw unknown(id, facts(), written ? ' among those added by command; it stands in auth.profiles' : '');
      return { removed: id };
    },
    'auth.order': (params, _client, run) => order(params, facts(), ledger, run),
    async 'auth.clear'(params) {
      const [id, provider] = [wordOf(params, 'id'), wordOf(params, 'provider')];
      const all = everyProfile(facts());
      const known = (profile: string) => all.some((one) => one.id === profile) || ledger.rests(profile).length > 0;
      if (id !== undefined && !known(id)) throw unknown(id, facts());
      const isMeant = (profile: string) => {
        if (id !== undefined) return profile === id;
        return (
          provider === undefined || profile === `${provider}:default` || all.some((one) => one.id === profile && one.provider === provider)
        );
      };
      trust(isMeant);
      return { cleared: await ledger.clear(isMeant) };
    },
  };
}

function everyProfile(facts: Facts): readonly Profile[] {
  const { config, ledger } = facts;
  const providers = new Set([...Object.values(config.profiles ?? {}), ...ledger.profiles.values()].map(({ provider }) => provider));
  return [...providers].flatMap((provider) => profilesOf(provider, facts));
}

/** Of every provider that has profiles or a model here, in the order of a new session. */
async function lines(run: Run, facts: Facts, only: string | undefined): Promise<readonly AuthLine[]> {
  const listed = (await run.find(Models)?.list(run)) ?? [];
  const named = new Set([...everyProfile(facts).map((one) => one.provider), ...listed.map(({ provider }) => provider)]);
  const providers = [...named].filter((provider) => only === undefined || provider === only).toSorted();
  return providers.flatMap((provider) => {
    const standings = standingsOf({ provider, model: '' }, facts);
    const isOut = ({ id }: Profile) => !standings.some(({ profile }) => profile.id === id);
    const out = profilesOf(provider, facts).filter(isOut);
    const why = `not in the order of ${provider}, so that it is not used`;
    return [
      ...standings.map(({ profile, ...standing }) => lineOf(profile, standing, facts)),
      ...out.map((profile) => ({ ...lineOf(profile, { usable: false, errors: 0, why }, facts), state: 'unusable' as const })),
    ];
  });
}

/** An order that stands leaves a profile out that is added after it. */
function unused(id: string, provider: string, facts: Facts): readonly string[] {
  const given = facts.config.order?.[provider];
  const ids = given ?? facts.ledger.orderOf(provider);
  if (!ids || ids.includes(id)) return [];
  const way = given ? `add it to auth.order.${provider}` : `instar models auth order ${provider} ${[...ids, id].join(' ')}`;
  return [`it is not in the order of ${provider}, so that it is not used; to use it: ${way}`];
}

function lineOf(
  profile: Profile,
  { usable, readyAt, reason, errors, why }: Omit<ReturnType<typeof standingsOf>[number], 'profile'>,
  facts: Facts,
): AuthLine {
  const lastUsed = facts.ledger.usedAt(profile.id);
  const single = facts.ledger.rests(profile.id).filter((rest) => rest.model !== '' && rest.until > facts.now);
  return {
    ...profile,
    state: usable ? 'ready' : lackOf(profile, facts) ? 'unusable' : 'resting',
    why,
    ...(readyAt !== undefined && { readyAt }),
    ...(reason && { reason }),
    errors,
    ...(lastUsed > 0 && { lastUsed }),
    models: single.map((rest) => ({ model: rest.model, readyAt: rest.until, reason: rest.reason })),
  };
}

const modes: readonly ProfileMode[] = ['api_key', 'token', 'oauth'];

async function add(params: Params, facts: Facts, ledger: Ledger, run: Run): Promise<string> {
  const provider = required(params, 'provider');
  const mode = modes.find((one) => one === (params['mode'] ?? 'api_key'));
  if (!mode) throw wrong(`"mode" must be one of ${modes.join(', ')}`);
  const id = wordOf(params, 'id') ?? freeName(provider, facts);
  const taken = everyProfile(facts).find((one) => one.id === id);
  if (taken && (taken.provider !== provider || taken.mode !== mode))
    throw wrong(`"${id}" is a profile of ${taken.provider} of mode ${taken.mode}; give another name`);
  if (mode !== 'oauth' && facts.config.profiles?.[id]?.[mode === 'token' ? 'token' : 'apiKey'] !== undefined) {
    const path = `auth.profiles[${JSON.stringify(id)}]`;
    const place = run.get(Host).place(path);
    const where = place === path ? 'the config' : `the config (${place})`;
    throw refusal(409, 'AUTH_PROFILE_CONFIG', `${path} has its key in ${where}, which counts; change it there, or give another name`);
  }
  await ledger.put({ id, provider, mode, secret: secretIn(params['secret'], mode) });
  await ledger.clear((profile) => profile === id); // what was wrong with the old one says nothing of the new one
  return id;
}

/** `anthropic:default`, then `anthropic:2`, … */
function freeName(provider: string, facts: Facts): string {
  const taken = new Set(everyProfile(facts).map(({ id }) => id));
  for (let n = 1; ; n++) {
    const id = `${provider}:${n === 1 ? 'default' : n}`;
    if (!taken.has(id)) return id;
  }
}

function secretIn(value: unknown, mode: ProfileMode): StoredSecret {
  if (mode === 'oauth') return { tokens: tokensIn(value) };
  if (isSecretRef(value)) return { ref: value };
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value)) throw wrong('"secret" must be the key: one line without spaces');
  channel(secretChannel).publish(value);
  return { text: value };
}

function tokensIn(value: unknown): Tokens {
  const { access, refresh, expires } = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const isText = (one: unknown): one is string => typeof one === 'string' && one.length > 0 && one.length <= 32_768;
  if (!isText(access)) throw wrong('"secret" of mode oauth must be {"access", "refresh"?, "expires"?: milliseconds since 1970}');
  channel(secretChannel).publish(access);
  if (isText(refresh)) channel(secretChannel).publish(refresh);
  return { access, ...(isText(refresh) && { refresh }), ...(typeof expires === 'number' && { expires }) };
}

async function order(params: Params, facts: Facts, ledger: Ledger, run: Run) {
  const provider = required(params, 'provider');
  const { ids } = params;
  const given = facts.config.order?.[provider];
  if (ids === undefined) return { provider, ids: given ?? ledger.orderOf(provider) ?? [] };
  if (given) {
    const path = `auth.order.${provider}`;
    const place = run.get(Host).place(path);
    throw refusal(409, 'AUTH_ORDER_CONFIG', `${path} is set in the config (${place}), which counts; change it there`);
  }
  if (!Array.isArray(ids) || !ids.every((id): id is string => typeof id === 'string')) throw wrong('"ids" must be a list of profiles');
  const known = profilesOf(provider, facts).map(({ id }) => id);
  const strange = ids.find((id) => !known.includes(id));
  if (strange !== undefined) throw unknown(strange, facts);
  await ledger.order(provider, [...new Set(ids)]);
  return { provider, ids };
}

const wrong = (what: string) => refusal(400, 'AUTH_PARAMS', what);

function unknown(id: string, facts: Facts, where = '') {
  const near = nearest(
    id,
    everyProfile(facts).map((one) => one.id),
  );
  return refusal(
    404,
    'AUTH_PROFILE_UNKNOWN',
    `there is no auth profile "${id}"${where}${near && near !== id ? `; did you mean "${near}"?` : ''}`,
  );
}

function wordOf(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^[^\p{Cc}\s]{1,200}$/u.test(value)) return value;
  throw wrong(`"${name}" must be 1 to 200 characters without spaces`);
}

function required(params: Params, name: string): string {
  const value = wordOf(params, name);
  if (value === undefined) throw wrong(`"${name}" is missing`);
  return value;
}
