import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { openWatches } from '../../../plugins/chat/watches.ts';
import { openStream } from '../../../plugins/events/stream.ts';
import type { Client } from '../../../plugins/gateway/contract.ts';

test('a client that watches anew again and again leaves nothing behind on its socket, and each leaves with it', () => {
  const stream = openStream({ events: 10, bytes: 10_000 }, () => {});
  const gone = new AbortController();
  const seen: unknown[] = [];
  const client = { id: 'a', kind: 'page', sender: 'owner', signal: gone.signal, send: (_: string, data: unknown) => void seen.push(data) };
  const watches = openWatches();
  for (let i = 0; i < 50; i++) {
    watches.start(client as Client, stream, {});
    if (i % 2) watches.stop(client as Client);
  }
  watches.start(client as Client, stream, {});
  expect(getEventListeners(gone.signal, 'abort')).toHaveLength(1);
  stream.publish({ type: 'a', data: {} });
  gone.abort();
  stream.publish({ type: 'b', data: {} });
  expect(seen).toHaveLength(1);
  expect(watches.stop(client as Client)).toBe(false);
});
