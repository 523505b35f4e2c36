import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { definePlugin, Host, joinKey, KernelError, type Leasable, type Run } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import type { Credential } from '../models/contract.ts';
import { isSecretRef, secretChannel, type SecretInput, secretOf, Secrets } from '../secrets/contract.ts';
import { Store } from '../store/contract.ts';
import { AuthProfiles, type AttemptEnd, type Profile } from './contract.ts';
import { restsFor } from './cooldown.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { authMethods } from './methods.ts';
import { tables } from './profile-rows.ts';
import { type AuthConfig, schema } from './schema.ts';
import { profilesOf, standingsOf } from './standing.ts';
import { accessToken, askEndpoint, type UnderWay } from './tokens.ts';

/** What must be one across reloads. */
interface Shared extends Leasable {
  readonly ledger: Ledger;
  readonly underWay: UnderWay;
}

const now = () => Date.now();

export default definePlugin({
  name: 'auth-profiles',
  description: 'Several keys and tokens of one provider: which is next, and which rests after errors',
  config: { at: 'auth', schema },
  needs: { store: Store, host: Host },
  provides: [AuthProfiles],
  async setup(ctx) {
    const { store, host } = ctx.needs;
    const config: AuthConfig = ctx.config;
    await store.migrate('auth-profiles', tables);
    const open = async (): Promise<Shared> => ({
      ledger: await openLedger(store, now),
      underWay: new Map(),
      resume() {},
      async [Symbol.asyncDispose]() {},
    });
    const { ledger, underWay } = await ctx.lease('auth-profiles', open);
    const leftOut = (id: string) => host.inspect().leftOut.find(({ plugin }) => plugin === joinKey('auth.profiles', id))?.why;
    const facts = () => ({ config, ledger, now: now(), leftOut });

    ctx.provide(AuthProfiles, {
      standing: (_run, query) => standingsOf(query, facts()),
      credential: async (run, profile) => {
        const apiKey = await secretOfProfile(run, profile);
        if (apiKey !== undefined) channel(secretChannel).publish(apiKey); // so that no log shows it
        return apiKey === undefined ? undefined : ({ profile: profile.id, apiKey } satisfies Credential);
      },
      report: (run, end) => report(run, end),
    });
    ctx.tap(Methods, (methods) => ({ ...methods, ...authMethods(facts, ledger) }));

    async function secretOfProfile(run: Run, { id, mode, origin }: Profile): Promise<string | undefined> {
      if (origin === 'implicit') return undefined;
      if (mode === 'oauth') return renewedToken(run, id);
      const [input, path] = inputOf(id, mode);
      const secret = await secretOf(run, input, path);
      if (secret !== undefined) return secret;
      throw new KernelError('AUTH_NO_SECRET', `auth profile "${id}" has no key; set ${path}, or "instar models auth add"`);
    }

    function inputOf(id: string, mode: Profile['mode']): readonly [SecretInput | undefined, string] {
      const field = mode === 'token' ? 'token' : 'apiKey';
      const stored = ledger.profiles.get(id)?.secret;
      const added = stored && 'text' in stored ? stored.text : stored && 'ref' in stored ? stored.ref : undefined;
      return [config.profiles?.[id]?.[field] ?? added, `auth.profiles[${JSON.stringify(id)}].${field}`];
    }

    async function renewedToken(run: Run, id: string): Promise<string> {
      const oauth = config.profiles?.[id]?.oauth;
      const renew = async (refreshToken: string) => {
        if (!oauth) throw new Error(`auth.profiles[${JSON.stringify(id)}].oauth does not say where`);
        const clientSecret = await secretOf(run, oauth.clientSecret, `auth.profiles[${JSON.stringify(id)}].oauth.clientSecret`);
        return askEndpoint({ ...oauth, clientSecret }, refreshToken, now);
      };
      return accessToken(id, { store, ledger, now, pause: (ms) => pause(ms), renew }, underWay);
    }

    async function report(run: Run, { profile, provider, model, sessionId, failure, beganAt }: AttemptEnd) {
      // Who has no choice has nothing to stay with.
      const session = profilesOf(provider, facts()).length > 1 ? sessionId : undefined;
      if (!failure) return ledger.worked({ profile, provider, model, session, beganAt });
      if (!restsFor(failure)) return;
      const [input] = failure.reason === 'auth' ? inputOf(profile, 'api_key') : [];
      if (isSecretRef(input)) run.find(Secrets)?.forget(input); // changed where it is kept: asked for anew
      await ledger.failed({ profile, provider, model, failure, beganAt }, config.cooldowns);
    }
  },
});
