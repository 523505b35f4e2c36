/**
 * Method of the gateway: `sessions.compact {sessionKey, instructions?}` → `CompactReport`. It may be called while a turn
 * runs, which goes on with what it has.
 */
export interface CompactReport {
  readonly compacted: boolean;
  /** For people, one line. */
  readonly text: string;
  /** About how many tokens the conversation had, and has. */
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
  /** How many messages are a summary now. */
  readonly messages?: number;
}
