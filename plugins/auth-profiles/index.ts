import { channel } from 'node:diagnostics_channel';
import { definePlugin, Host, joinKey, type Leasable, type Run } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import type { Credential } from '../models/contract.ts';
import { secretChannel } from '../secrets/contract.ts';
import { Store } from '../store/contract.ts';
import { AuthProfiles, type AttemptEnd } from './contract.ts';
import { restsFor } from './cooldown.ts';
import { orderFaults } from './faults.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { authMethods } from './methods.ts';
import { tables } from './profile-rows.ts';
import { type AuthConfig, schema } from './schema.ts';
import { secretsOf } from './secret.ts';
import { lackOf, profilesOf, standingsOf } from './standing.ts';
import type { Renewals } from './tokens.ts';

/** What must be one across reloads. */
interface Shared extends Leasable {
  readonly ledger: Ledger;
  readonly renewals: Renewals;
  newest: AuthConfig;
}

const now = () => Date.now();

export default definePlugin({
  name: 'auth-profiles',
  description: 'Several keys and tokens of one provider: which is next, and which rests after errors',
  config: { at: 'auth', schema, faults: (value) => orderFaults(value) },
  needs: { store: Store, host: Host },
  provides: [AuthProfiles],
  async setup(ctx) {
    const { store, host } = ctx.needs;
    const config: AuthConfig = ctx.config;
    await store.migrate('auth-profiles', tables);
    const open = async (): Promise<Shared> => ({
      ledger: await openLedger(store, now),
      renewals: { underWay: new Map(), stale: new Map(), unsaved: new Map() },
      newest: config,
      resume() {},
      async [Symbol.asyncDispose]() {},
    });
    const shared = await ctx.lease('auth-profiles', open);
    const { ledger, renewals } = shared;
    const secrets = secretsOf({ store, ledger, renewals, newest: () => shared.newest, now });
    const leftOut = (id: string) => host.inspect().leftOut.find(({ plugin }) => plugin === joinKey('auth.profiles', id))?.why;
    const facts = () => ({ config, ledger, now: now(), leftOut });

    ctx.provide(AuthProfiles, {
      standing: (_run, query) => standingsOf(query, facts()),
      credential: async (run, profile) => {
        const apiKey = await secrets.of(run, profile);
        if (apiKey !== undefined) channel(secretChannel).publish(apiKey); // so that no log shows it
        return apiKey === undefined ? undefined : ({ profile: profile.id, apiKey } satisfies Credential);
      },
      report: (run, end) => report(run, end),
    });
    ctx.tap(Methods, (methods) => ({ ...methods, ...authMethods(facts, ledger, secrets.trust) }));
    ctx.onLive(() => {
      shared.newest = config; // at the swap: a candidate that is dropped has no say in the keys of those that run
    });

    async function report(run: Run, end: AttemptEnd): Promise<boolean> {
      const { profile, provider, model, sessionId, failure, beganAt } = end;
      if (!failure) {
        secrets.trust((id) => id === profile);
        const known = facts();
        const all = profilesOf(provider, known);
        const choice = all.filter((one) => lackOf(one, known) === undefined).map(({ id }) => id);
        // Who has no choice has nothing to stay with.
        await ledger.worked({ profile, provider, model, session: all.length > 1 ? sessionId : undefined, choice, beganAt });
        return false;
      }
      if (!restsFor(failure)) return false;
      // What else goes wrong is the server's, whatever it was asked with.
      if ((failure.reason === 'auth' || failure.reason === 'billing') && secrets.isReplaced(end)) return true;
      if (failure.reason === 'auth' && secrets.refused(run, end, failure.status)) return true;
      await ledger.failed({ profile, provider, model, failure, beganAt }, config.cooldowns);
      return false;
    }
  },
});
