import { isDeepStrictEqual } from 'node:util';
import type { InboxItem, QueueMode } from './contract.ts';

/**
 * Whether a message may be part of a turn that another began. It is judged as that one is, so it must be of the same
 * standing: what a stranger says never rides on an owner's turn. And one answer serves both.
 */
export function mayJoin(turn: InboxItem, item: InboxItem): boolean {
  if (turn.ephemeral || item.ephemeral || turn.history || item.history) return false;
  return isDeepStrictEqual(standing(turn), standing(item));
}

/** All facts of both, also those that are added one day. A row that was read back lacks fields where a fresh one has `undefined`. */
const standing = ({ agentId, route, model, volatile = false, subject, provenance }: InboxItem) =>
  [{ agentId, route, model, volatile }, subject, provenance].map(defined);

const defined = (facts: object) => Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));

/** The owner may end anything; another only what one like him began; what no person sent, nothing. */
export function mayInterrupt(turn: InboxItem, { mode, provenance, subject }: InboxItem): boolean {
  if (mode !== 'interrupt' || provenance.kind !== 'external_user') return false;
  if (subject.sender === 'owner') return true;
  return turn.provenance.kind === 'external_user' && turn.subject.sender === subject.sender && turn.subject.group === subject.group;
}

const joins: Readonly<Record<'start' | 'round', ReadonlySet<QueueMode>>> = {
  start: new Set<QueueMode>(['collect', 'steer', 'interrupt']),
  round: new Set<QueueMode>(['steer']),
};

/** How many of those that wait join a turn now. Only from the front: the order of a session is kept. */
export function joiners(turn: InboxItem, waiting: readonly InboxItem[], when: 'start' | 'round'): number {
  if (when === 'start' && turn.isShortened) return joinersOfShortened(turn, waiting);
  if (when === 'start' && !joins.start.has(turn.mode ?? 'followup')) return 0;
  const isStuck = (item: InboxItem) => !joins[when].has(item.mode ?? 'followup') || !mayJoin(turn, item);
  const first = waiting.findIndex(isStuck);
  return first < 0 ? waiting.length : first;
}

/** What was shortened is answered with the next one that was not, and with whatever joins that. */
function joinersOfShortened(turn: InboxItem, waiting: readonly InboxItem[]): number {
  const whole = waiting.findIndex(({ isShortened }) => !isShortened);
  const stuck = waiting.findIndex((item) => !mayJoin(turn, item));
  if (whole < 0 || (stuck >= 0 && stuck <= whole)) return stuck < 0 ? waiting.length : stuck;
  return whole + 1 + joiners(waiting[whole] as InboxItem, waiting.slice(whole + 1), 'start');
}

/** Whose limit a turn counts against. */
export function laneOf({ subject }: Pick<InboxItem, 'subject'>): string {
  return subject.session === 'subagent' || subject.session === 'cron' ? subject.session : 'main';
}
