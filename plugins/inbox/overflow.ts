import type { InboxItem } from './contract.ts';
import { mayJoin } from './joining.ts';

/** What a session may hold, by the config of the moment. */
export interface Room {
  readonly cap: number;
  readonly drop: 'new' | 'old' | 'summarize';
}

const isWhole = ({ isShortened }: InboxItem) => !isShortened;

/**
 * Makes room for `item` among what waits. What comes back (`item` itself, or one that waited) is refused: its sender is
 * told. With `summarize` the oldest are shortened and answered with the turn that follows, as many as may wait besides.
 */
export function makeRoom(waiting: InboxItem[], item: InboxItem, { cap, drop }: Room): InboxItem | undefined {
  if (waiting.filter(isWhole).length < cap) return undefined;
  if (drop === 'new') return item;
  if (drop === 'old') return waiting.shift();
  if (!shortenOldest(waiting, [item])) return takeFirst(waiting, isWhole);
  const isOver = waiting.length - waiting.filter(isWhole).length > cap;
  return isOver ? takeFirst(waiting, (one) => !isWhole(one)) : undefined;
}

const takeFirst = (waiting: InboxItem[], isIt: (one: InboxItem) => boolean) => waiting.splice(waiting.findIndex(isIt), 1)[0];

/** After a restart: rows say only what came. The first may have begun already and stays as it is. */
export function shortenLeftovers(waiting: InboxItem[], { cap, drop }: Room) {
  if (drop !== 'summarize') return;
  for (let over = waiting.length - cap; over > 0 && shortenOldest(waiting, [], 1); over--);
}

/** What begins a turn is shortened only where a whole one is answered with it: what came between may be gone by now. */
export function asAnswered(item: InboxItem, waiting: readonly InboxItem[]): InboxItem {
  return isWhole(item) || isCovered(item, waiting) ? item : { ...item, isShortened: false };
}

/** Whether all that comes up to the next whole one may be answered with it. */
function isCovered(item: InboxItem, later: readonly InboxItem[]): boolean {
  const whole = later.findIndex(isWhole);
  return whole >= 0 && later.slice(0, whole + 1).every((other) => mayJoin(item, other));
}

/** Only one that a later one is answered with; false where there is none. */
function shortenOldest(waiting: InboxItem[], coming: readonly InboxItem[], from = 0): boolean {
  const later = (i: number) => [...waiting.slice(i + 1), ...coming];
  const at = waiting.findIndex((one, i) => i >= from && isWhole(one) && isCovered(one, later(i)));
  if (at < 0) return false;
  waiting[at] = { ...(waiting[at] as InboxItem), isShortened: true };
  return true;
}
