import type { Leasable } from '../../kernel/index.ts';

/** Which model answers in which session, where it is not the one that is wanted. One for all generations. */
export interface Switches extends Leasable {
  /** The change that this answer makes, if it makes one: each is told once. */
  note(
    session: string,
    wanted: string,
    answering: string,
  ): { readonly from: string; readonly to: string; readonly isBack: boolean } | undefined;
}

const most = 10_000;

export function openSwitches(): Switches {
  const away = new Map<string, { readonly wanted: string; readonly answering: string }>();
  return {
    note(session, wanted, answering) {
      const known = away.get(session);
      // Who wants another model by now was told by himself.
      const from = known?.wanted === wanted ? known.answering : wanted;
      away.delete(session);
      if (answering !== wanted) away.set(session, { wanted, answering });
      const [oldest] = away.keys();
      if (away.size > most && oldest !== undefined) away.delete(oldest);
      return from === answering ? undefined : { from, to: answering, isBack: answering === wanted };
    },
    resume() {}, // holds nothing of the outside world
    async [Symbol.asyncDispose]() {},
  };
}
