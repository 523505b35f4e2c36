import type { Leasable } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import { type Cooldowns, type ProfileError, type Rest, restAfter } from './cooldown.ts';
import {
  type Everything,
  readAll,
  readProfile,
  removePins,
  removeProfile,
  removeRest,
  removeTraces,
  type StoredProfile,
  writeOrder,
  writePin,
  writeProfile,
  writeRest,
  writeUse,
} from './profile-rows.ts';

/**
 * What is known of profiles beyond the config: one for all generations, in memory as it is in the store. The state folder
 * has one owner, so that nobody else changes the rows; only tokens are read anew where they are renewed.
 */
export interface Ledger extends Leasable {
  readonly profiles: ReadonlyMap<string, StoredProfile>;
  usedAt(profile: string): number;
  orderOf(provider: string): readonly string[] | undefined;
  pinned(session: string, provider: string): string | undefined;
  /** The rests that are on record: of all models (`''`) and of single ones. */
  rests(profile: string): readonly Rest[];
  failed(error: ProfileError, cooldowns: Cooldowns): Promise<void>;
  worked(end: {
    readonly profile: string;
    readonly provider: string;
    readonly model: string;
    readonly session?: string | undefined;
    /** The profiles of the provider that can be used: a session that is held by another comes to this one. */
    readonly choice: readonly string[];
    readonly beganAt: number;
  }): Promise<void>;
  /** Returns how many rests ended. */
  clear(isMeant: (profile: string) => boolean): Promise<number>;
  put(profile: StoredProfile): Promise<void>;
  /** In memory alone. */
  keep(profile: StoredProfile): void;
  /** The row as another process may have left it. */
  reread(id: string): Promise<StoredProfile | undefined>;
  /** From the orders too: an order of profiles that are gone would leave nothing to use. `stands`: only its secret goes, the config has the profile still. */
  remove(id: string, stands: boolean): Promise<boolean>;
  order(provider: string, ids: readonly string[]): Promise<void>;
}

/** In memory: stateless clients bring a new session with each request. */
const mostPins = 20_000;

/** The use of a profile is written no more often. */
const useMs = 60_000;

const key = (...parts: readonly string[]) => JSON.stringify(parts);

export async function openLedger(store: Store, now: () => number): Promise<Ledger> {
  const all: Everything = await store.tx((t) => readAll(t, now()));
  const profiles = new Map(all.profiles.map((one) => [one.id, one]));
  const rests = new Map(all.rests.map((one) => [key(one.profile, one.model), one]));
  const uses = new Map(all.uses);
  const usesWritten = new Map(all.uses);
  const pins = new Map(all.pins.map((one) => [key(one.session, one.provider), one.profile]));
  const orders = new Map(all.orders);

  const unpin = (profile: string) => {
    for (const [name, pinned] of pins) if (pinned === profile) pins.delete(name);
  };

  const setOrder = (provider: string, ids: readonly string[]) => {
    if (ids.length) orders.set(provider, ids);
    else orders.delete(provider);
  };

  async function failed(error: ProfileError, cooldowns: Cooldowns) {
    const model = error.failure.perModel ? error.model : '';
    const name = key(error.profile, model);
    const rest = restAfter(rests.get(name), { ...error, model }, cooldowns, now());
    // A key that is refused for good must not hold a session fast.
    const lost = rest.reason === 'auth' || rest.reason === 'billing';
    rests.set(name, rest);
    if (lost) unpin(error.profile);
    await store.tx(async (t) => {
      await writeRest(t, rest);
      if (lost) await removePins(t, error.profile);
    });
  }

  const worked: Ledger['worked'] = async ({ profile, provider, model, session, choice, beganAt }) => {
    const at = now();
    // What failed later than now did so before the clock was put right.
    const isOver = ({ failedAt }: Rest) => failedAt <= beganAt || failedAt > at;
    const ended = ['', model].flatMap((each) => rests.get(key(profile, each)) ?? []).filter(isOver);
    const pinned = session === undefined ? undefined : pins.get(key(session, provider));
    const isFree = pinned === undefined || !choice.includes(pinned);
    const pin = session !== undefined && isFree ? { session, provider, profile } : undefined;
    uses.set(profile, at);
    const isUse = Math.abs(at - (usesWritten.get(profile) ?? 0)) >= useMs;
    if (ended.length === 0 && !pin && !isUse) return;
    for (const rest of ended) rests.delete(key(rest.profile, rest.model));
    if (pin) pins.set(key(pin.session, provider), profile);
    const [oldest] = pins.keys();
    if (pins.size > mostPins && oldest !== undefined) pins.delete(oldest);
    if (isUse) usesWritten.set(profile, at);
    await store.tx(async (t) => {
      for (const rest of ended) await removeRest(t, rest);
      if (pin) await writePin(t, pin, at);
      if (isUse) await writeUse(t, profile, at);
    });
  };

  return {
    profiles,
    usedAt: (profile) => uses.get(profile) ?? 0,
    orderOf: (provider) => orders.get(provider),
    pinned: (session, provider) => pins.get(key(session, provider)),
    rests: (profile) => [...rests.values()].filter((rest) => rest.profile === profile && rest.failedAt <= now()),
    failed,
    worked,
    async clear(isMeant) {
      const ended = [...rests.values()].filter(({ profile }) => isMeant(profile));
      for (const rest of ended) rests.delete(key(rest.profile, rest.model));
      await store.tx(async (t) => {
        for (const rest of ended) await removeRest(t, rest);
      });
      return ended.length;
    },
    async put(profile) {
      await store.insist((t) => writeProfile(t, profile, now()));
      profiles.set(profile.id, profile);
    },
    keep: (profile) => void profiles.set(profile.id, profile),
    async reread(id) {
      const row = await store.tx((t) => readProfile(t, id));
      if (row) profiles.set(id, row);
      return row;
    },
    async remove(id, stands) {
      if (!profiles.has(id)) return false;
      if (stands) {
        await store.tx((t) => removeProfile(t, id));
        return profiles.delete(id);
      }
      const left = [...orders].filter(([, ids]) => ids.includes(id)).map(([of, ids]) => [of, ids.filter((one) => one !== id)] as const);
      await store.tx(async (t) => {
        await removeProfile(t, id);
        await removeTraces(t, id);
        for (const [provider, ids] of left) await writeOrder(t, provider, ids);
      });
      for (const [provider, ids] of left) setOrder(provider, ids);
      profiles.delete(id);
      uses.delete(id);
      usesWritten.delete(id);
      unpin(id);
      for (const [name, rest] of rests) if (rest.profile === id) rests.delete(name);
      return true;
    },
    async order(provider, ids) {
      await store.tx((t) => writeOrder(t, provider, ids));
      setOrder(provider, ids);
    },
    resume() {}, // holds nothing of the outside world
    async [Symbol.asyncDispose]() {},
  };
}
