import type { Leasable } from '../../kernel/index.ts';
import type { Clock } from './clock.ts';
import type { Answer, Question, Seat } from './contract.ts';

/** How a question ended. */
export interface Ending {
  readonly answer: Answer | 'timeout' | 'aborted';
  readonly by: string;
}

/** Open questions and who is there to answer them. A lease: both outlive a reload of this plugin. */
export interface Desk extends Leasable {
  /** Whether a person could see this question. */
  attends(question: Question): boolean;
  pending(): readonly Question[];
  /** Settles with the answer, at `expiresAt`, or when the signal aborts. */
  put(question: Question, signal: AbortSignal): Promise<Ending>;
  answer(id: string, ending: Ending): boolean;
  attend(name: string, seat?: Seat): { leave(): void };
  /** One seat of a client that stays until the signal aborts, however often it asks for one and whichever generation it asks. */
  attendUntil(signal: AbortSignal, name: string): void;
}

export function openDesk(clock: Clock): Desk {
  const open = new Map<string, { readonly question: Question; readonly settle: (ending: Ending) => void }>();
  const attending = new Set<Seat>();
  const seated = new WeakSet<AbortSignal>();
  const attend: Desk['attend'] = (name, given = {}) => {
    const seat = { name, ...given };
    attending.add(seat);
    return { leave: () => void attending.delete(seat) };
  };
  const answer = (id: string, ending: Ending) => {
    const entry = open.get(id);
    open.delete(id);
    entry?.settle(ending);
    return entry !== undefined;
  };
  const seats = (question: Question) => [...attending].filter((seat) => quietly(() => seat.sees?.(question) ?? true) ?? false);
  return {
    attends: (question) => seats(question).length > 0,
    pending: () => [...open.values()].map(({ question }) => question),
    answer,
    async put(question, signal) {
      const { promise, resolve } = Promise.withResolvers<Ending>();
      open.set(question.id, { question, settle: resolve });
      const abort = () => answer(question.id, { answer: 'aborted', by: 'the run' });
      const cancel = clock.after(question.expiresAt - clock.now(), () => answer(question.id, { answer: 'timeout', by: 'nobody' }));
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      // The question exists before anybody is shown it: an answer finds it, however quick it is.
      for (const seat of seats(question)) void quietly(() => seat.show?.(question));
      const ending = await promise;
      cancel();
      signal.removeEventListener('abort', abort);
      for (const seat of attending) quietly(() => seat.settled?.(question, ending.answer, ending.by));
      return ending;
    },
    attend,
    attendUntil(signal, name) {
      if (signal.aborted || seated.has(signal)) return;
      seated.add(signal);
      const seat = attend(name);
      signal.addEventListener('abort', () => seat.leave(), { once: true });
    },
    async [Symbol.asyncDispose]() {
      for (const id of open.keys()) answer(id, { answer: 'aborted', by: 'the end of the gateway' });
    },
  };
}

/** A seat that fails shows nothing; the others and the clock go on. */
function quietly<T>(work: () => T): T | undefined {
  try {
    const done = work();
    if (done instanceof Promise) done.catch(() => {});
    return done;
  } catch {
    return undefined;
  }
}
