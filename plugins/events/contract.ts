import { service } from '../../kernel/index.ts';

/** What happens in a session, for people and programs that watch. SPEC 6.1 names the turn's events. */
export interface LiveEvent {
  /** Grows by one per event of this process; replay starts after a given one. `<boot>.<n>` so that an old one is recognised. */
  readonly cursor: string;
  readonly type: string;
  /** Absent for what concerns no session (reloads, approvals of none). */
  readonly sessionKey?: string;
  readonly runId?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A bounded, coalescing stream outside the awaited hooks. Survives reloads (a lease).
 * Deltas of one message part (`message_update`) are joined and only the newest `tool_execution_update` of a call is
 * kept, for watchers that are behind and in what is kept for replay: each character still comes exactly once.
 */
export interface Events {
  publish(event: Omit<LiveEvent, 'cursor'>): void;
  /**
   * Calls back for each later event; with `after`, first (before it returns) for those kept since. `missed` is true
   * where some are gone. With a session: its events and those of no session.
   * A callback that returns a promise is not called again until it settles. One that stays behind too far, or throws at
   * an event, gets `{type: 'missed'}` in place of what was dropped: read the history again.
   */
  watch(
    filter: { readonly sessionKey?: string | undefined; readonly after?: string | undefined },
    each: (event: LiveEvent) => void | Promise<void>,
  ): {
    readonly missed: boolean;
    readonly cursor: string;
    /** What is still held back is delivered first. */
    stop(): void;
  };
  /**
   * Replay after this cursor shows what a session's transcript, read right after this call, does not hold yet.
   * `missed` of such a replay speaks of this session only, whatever is watched.
   */
  settled(sessionKey: string): string;
}

export const Events = service<Events>('events');
