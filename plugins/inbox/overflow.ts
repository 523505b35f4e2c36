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
  if (drop === 'old' || !shortenOldest(waiting, [item])) return waiting.shift();
  const isOver = waiting.length - waiting.filter(isWhole).length > cap;
  return isOver
    ? waiting.splice(
        waiting.findIndex(({ isShortened }) => isShortened),
        1,
      )[0]
    : undefined;
}

/** After a restart: rows say only what came. The first may have begun already and stays as it is. */
export function shortenLeftovers(waiting: InboxItem[], { cap, drop }: Room) {
  if (drop !== 'summarize') return;
  for (let over = waiting.length - cap; over > 0 && shortenOldest(waiting, [], 1); over--);
}

/** Only one that a later one can answer for; false where there is none. */
function shortenOldest(waiting: InboxItem[], coming: readonly InboxItem[], from = 0): boolean {
  const later = (i: number) => [...waiting.slice(i + 1), ...coming];
  const at = waiting.findIndex((one, i) => i >= from && isWhole(one) && later(i).some((other) => mayJoin(one, other)));
  if (at < 0) return false;
  waiting[at] = { ...(waiting[at] as InboxItem), isShortened: true };
  return true;
}
