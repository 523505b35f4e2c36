import { KernelError } from './error.ts';

/** A live resource (socket, queue). `retire` stops intake once no current instance holds it, `resume` undoes that: have both or neither. */
export interface Leasable extends AsyncDisposable {
  retire?(): void;
  resume?(): void;
}

/** `made` is set once `value` is there: nobody but its holders may wait for one that is still being made. */
type Slot = { readonly holders: Set<object>; readonly value: Promise<Leasable>; made?: Leasable; isRetired: boolean };

export type LeasePool = ReturnType<typeof leasePool>;

/** Live resources by the key of what they hold in the outside world. Counting holders makes rollback free. */
export function leasePool(report: (error: unknown) => void, closeMs: number) {
  const slots = new Map<string, Slot>();
  const closing = new Map<string, Promise<void>>();

  /** The outside world holds only one: whatever had this key is closed first. */
  function open(key: string, create: () => Leasable | Promise<Leasable>): Slot {
    const holders = new Set<object>();
    const value = Promise.resolve(closing.get(key)).then(() => {
      if (holders.size > 0) return create();
      throw new KernelError('CANDIDATE_DROPPED', `lease "${key}" was given up before it was made`);
    });
    const slot: Slot = { holders, value, isRetired: false };
    const forget = () => slots.get(key) === slot && slots.delete(key);
    value.then((made) => (slot.made = made), forget);
    slots.set(key, slot);
    return slot;
  }

  /** `isAnew`: what others hold is closed first; they go on holding something that is closed. */
  async function acquire<T extends Leasable>(key: string, holder: object, create: () => T | Promise<T>, isAnew = false): Promise<T> {
    const held = slots.get(key);
    if (isAnew && held && !held.holders.has(holder)) await end(key, held);
    const slot = slots.get(key) ?? open(key, create);
    slot.holders.add(holder);
    return (await slot.value) as T;
  }

  /** Lets go of one share; the last one closes the resource. One that is still being made is closed when it is there. */
  async function release(key: string, holder: object): Promise<void> {
    const slot = slots.get(key);
    if (slot?.holders.delete(holder) && slot.holders.size === 0) await end(key, slot);
  }

  async function end(key: string, slot: Slot): Promise<void> {
    slots.delete(key);
    const late = new KernelError('DISPOSE_TIMEOUT', `lease "${key}" did not close in ${closeMs} ms; it was left behind`);
    const shut = (made: Leasable) => within(closeMs, late, async () => made[Symbol.asyncDispose]()).catch(report);
    if (!slot.made) return void slot.value.then(shut, () => {}); // of its failure those heard who asked for it
    const closed = shut(slot.made).finally(() => closing.delete(key));
    closing.set(key, closed);
    await closed;
  }

  /** After a swap: what no current instance holds stops taking in, what one holds again goes on. Synchronous. */
  function sweep(current: ReadonlySet<object>) {
    for (const slot of slots.values()) {
      const isHeld = !slot.holders.isDisjointFrom(current);
      if (!slot.made || isHeld !== slot.isRetired) continue;
      slot.isRetired = !isHeld;
      try {
        slot.made[isHeld ? 'resume' : 'retire']?.();
      } catch (error) {
        report(error);
      }
    }
  }

  const inspect = () => [...slots].map(([key, { holders }]) => ({ key, holders: holders.size }));
  return { acquire, release, sweep, inspect };
}

/** Rejects with `late` if the work has not settled in time. The work itself cannot be stopped, only left. */
export async function within<T>(ms: number, late: Error, work: () => Promise<T>): Promise<T> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(deadline.reject, ms, late);
  return Promise.race([work(), deadline.promise]).finally(() => clearTimeout(timer));
}
