import type { Events, LiveEvent } from '../events/contract.ts';

/** The text of one item's turn as it is made; other turns of the session pass by. */
export interface TextFeed {
  /** Events come before the item's id is known: they wait until then. */
  begin(itemId: string): void;
  /** What is still held back comes first. */
  stop(): void;
}

export function openTextFeed(
  events: Events,
  sessionKey: string,
  text: (messageId: string, delta: string) => void | Promise<void>,
): TextFeed {
  let early: LiveEvent[] | undefined = [];
  let item: string | undefined;
  let runId: string | undefined;
  const take = ({ type, runId: of, data }: LiveEvent): void | Promise<void> => {
    if (type === 'agent_start' && data.itemId === item) runId = of;
    if (type !== 'message_update' || data.kind !== 'text' || runId === undefined || of !== runId) return;
    return text(String(data.messageId), String(data.delta));
  };
  const watch = events.watch({ sessionKey }, (event) => (early ? void early.push(event) : take(event)));
  return {
    begin(itemId) {
      item = itemId;
      const waited = early ?? [];
      early = undefined;
      for (const event of waited) void take(event);
    },
    stop: () => watch.stop(),
  };
}
