import { KernelError } from './error.ts';

/** A live resource (socket, child process, queue). `retire` stops intake once no current instance holds it; `resume` undoes that. */
export interface Leasable extends AsyncDisposable {
  retire?(): void;
  resume?(): void;
}

interface Slot {
  readonly holders: Set<object>;
  readonly value: Promise<Leasable>;
  /** Set once `value` settled well; nobody but its makers may wait for a slot that is still being made. */
  made?: Leasable;
  retired: boolean;
  readonly closed: PromiseWithResolvers<void>;
}

export type LeasePool = ReturnType<typeof leasePool>;

/** Live resources by the key of what they hold in the outside world. Counting holders makes rollback free. */
export function leasePool(report: (error: unknown) => void, disposeMs: number) {
  const slots = new Map<string, Slot>();
  const closing = new Map<string, Promise<void>>();

  function open(key: string, create: () => Leasable | Promise<Leasable>): Slot {
    const value = (closing.get(key) ?? Promise.resolve()).then(create);
    const slot: Slot = { holders: new Set(), value, retired: false, closed: Promise.withResolvers() };
    value.then(
      (made) => Object.assign(slot, { made }),
      () => forget(key, slot),
    );
    slots.set(key, slot);
    return slot;
  }

  function forget(key: string, slot: Slot) {
    if (slots.get(key) === slot) slots.delete(key);
    slot.closed.resolve();
  }

  async function close(key: string, made: Leasable) {
    const late = new KernelError(
      'DISPOSE_TIMEOUT',
      `lease "${key}" did not close in ${disposeMs} ms; it was left behind`,
    );
    await within(disposeMs, late, async () => made[Symbol.asyncDispose]()).catch(report);
  }

  async function acquire<T extends Leasable>(key: string, holder: object, create: () => T | Promise<T>): Promise<T> {
    let slot = slots.get(key);
    if (slot?.retired && !slot.made?.resume) {
      await slot.closed.promise; // whoever still uses it must finish first: the outside world holds only one
      return acquire(key, holder, create);
    }
    slot ??= open(key, create);
    slot.holders.add(holder);
    return (await slot.value) as T;
  }

  /** Lets go of one share; the last one closes the resource. One that is still being made is closed when it is there. */
  async function release(key: string, holder: object) {
    const slot = slots.get(key);
    if (!slot?.holders.delete(holder) || slot.holders.size > 0) return;
    const { made } = slot;
    if (made)
      closing.set(
        key,
        close(key, made).finally(() => closing.delete(key)),
      );
    else
      slot.value.then(
        (late) => close(key, late),
        () => {},
      ); // its maker heard of the failure
    forget(key, slot);
    await closing.get(key);
  }

  /** After a swap: what no current instance holds stops taking in, what one holds again goes on. Synchronous. */
  function sweep(current: ReadonlySet<object>) {
    for (const slot of slots.values()) {
      const held = [...slot.holders].some((holder) => current.has(holder));
      if (!slot.made || held === !slot.retired) continue;
      slot.retired = !held;
      try {
        slot.made[held ? 'resume' : 'retire']?.();
      } catch (error) {
        report(error);
      }
    }
  }

  return {
    acquire,
    release,
    sweep,
    inspect: () => [...slots].map(([key, { holders }]) => ({ key, holders: holders.size })),
  };
}

/** Rejects with `late` if the work has not settled in time. The work itself cannot be stopped, only left. */
export async function within<T>(ms: number, late: Error, work: () => Promise<T>): Promise<T> {
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(deadline.reject, ms, late);
  try {
    return await Promise.race([work(), deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}
