import { Events, type LiveEvent } from '../events/contract.ts';
import type { Exchange, Route } from '../gateway/contract.ts';
import { sessionKey as keyOf } from '../sessions/contract.ts';
import { usualAgent } from './address.ts';
import { wordOf } from './params.ts';

/**
 * `GET /v1/events?session=<key>&after=<cursor>`: the events of `events.watch` as server-sent ones, for programs without a
 * WebSocket. Each is one `LiveEvent` as JSON, its cursor the event's id, so that an EventSource which lost its connection
 * comes back (`Last-Event-ID`) and misses nothing; `{"type":"missed"}` comes first where some are gone.
 */
export const eventRoute: Route = {
  method: 'GET',
  path: '/v1/events',
  handle(exchange, run) {
    const { searchParams } = exchange.url;
    const asked = {
      session: searchParams.get('session') ?? undefined,
      after: exchange.headers['last-event-id'] ?? searchParams.get('after') ?? undefined,
    };
    const [session, after] = [wordOf(asked, 'session'), wordOf(asked, 'after')];
    stream(exchange, run.get(Events), { after, sessionKey: session && keyOf(usualAgent({ kind: 'page' }, run), session) });
  },
};

/** Outlives the run: the stream of events does, too. */
function stream(exchange: Exchange, events: Events, filter: Parameters<Events['watch']>[0]) {
  const out = exchange.stream();
  const early: LiveEvent[] = [];
  let isOpen = false;
  const send = (event: LiveEvent) => {
    const sent = out.send(`${JSON.stringify(event)}\nid: ${event.cursor}`);
    // Who may watch is asked again: an EventSource connects anew by itself.
    if (event.type === 'generation_swapped') void end();
    return sent;
  };
  const watch = events.watch(filter, (event) => (isOpen ? send(event) : void early.push(event)));
  const end = () => {
    watch.stop();
    return out.end();
  };
  isOpen = true;
  if (watch.missed) void out.send(JSON.stringify({ type: 'missed', cursor: watch.cursor, data: {} }));
  for (const event of early) void send(event);
  if (exchange.signal.aborted) watch.stop();
  else exchange.signal.addEventListener('abort', () => watch.stop(), { once: true });
}
