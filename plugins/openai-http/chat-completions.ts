import { randomUUID } from 'node:crypto';
import { addAbortListener } from 'node:events';
import { KernelError, type Log, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Events } from '../events/contract.ts';
import type { Exchange } from '../gateway/contract.ts';
import { type Arrival, Inbox, type Receipt } from '../inbox/contract.ts';
import { type Delivery, Outbox } from '../outbox/contract.ts';
import { apiErrorOf, badRequest } from './api-error.ts';
import { type ChatRequest, readRequest } from './chat-request.ts';
import { outcomeOf } from './completion.ts';
import { split } from './messages.ts';
import { type Reply, streamedReply, wholeReply } from './reply.ts';
import { openTextFeed } from './text-feed.ts';
import type { Waiter, Waiters } from './waiters.ts';

export const scheme = 'http:';

export interface Around {
  readonly waiters: Waiters;
  readonly log: Log;
  readonly maxImages: number;
}

/** One request: into the inbox, then wait for what the outbox sends to its route. */
export async function completeChat(exchange: Exchange, run: Run, { waiters, log, maxImages }: Around): Promise<void> {
  const requestId = randomUUID();
  const head = { id: `chatcmpl-${requestId}`, created: Math.floor(Date.now() / 1000), model: '' };
  let reply: Reply = wholeReply(exchange, head);
  const waiter = waiters.open(`${scheme}${requestId}`);
  try {
    const request = readRequest(await exchange.json(), exchange.headers, run.get(Agents), maxImages);
    if (request.ignored.length) log.info('parameters without effect here', { requestId, ignored: request.ignored });
    head.model = request.model;
    if (request.stream) reply = streamedReply(exchange, head, request.includeUsage);
    const delivery = await answerOf(request, requestId, { exchange, run, reply, waiter });
    reply.finish(outcomeOf(delivery));
  } catch (error) {
    reply.fail(apiErrorOf(error, log));
  } finally {
    const isOut = await flushedIn(exchange);
    waiter.settle(isOut ? { kind: 'delivered' } : { kind: 'gone', why: 'the client went away before the answer was out' });
  }
}

interface Waiting {
  readonly exchange: Exchange;
  readonly run: Run;
  readonly reply: Reply;
  readonly waiter: Waiter;
}

async function answerOf(request: ChatRequest, requestId: string, { exchange, run, reply, waiter }: Waiting): Promise<Delivery> {
  const arrival = arrivalOf(request, requestId);
  const inbox = run.get(Inbox);
  const feed = request.stream ? openTextFeed(run.get(Events), arrival.sessionKey, (id, delta) => reply.text(id, delta)) : undefined;
  try {
    const receipt = await inbox.enqueue(arrival);
    const { itemId } = receipt;
    using _stopping = addAbortListener(run.signal, () => waiter.failed(run.signal.reason));
    using _leaving = addAbortListener(exchange.signal, () => {
      waiter.failed(badRequest('the client went away', 'client_gone', 499));
      if (!request.idempotencyKey) void inbox.cancel(itemId, 'the client went away').catch(() => {}); // then it just runs on
    });
    if (!receipt.known) feed?.begin(itemId);
    else {
      feed?.stop(); // who joins later has missed the beginning: the whole comes at the end
      await rejoin(receipt, run, waiter);
    }
    using _lookout = lookout(itemId, run, waiter);
    return await waiter.answer;
  } finally {
    feed?.stop();
  }
}

function arrivalOf(request: ChatRequest, requestId: string): Arrival {
  const { agentId, idempotencyKey, sessionKey: named } = request;
  const { history, input } = split(request.messages);
  const sessionKey = named ?? `agent:${agentId}:http:${requestId}`;
  const kind = !named ? 'ephemeral' : named === `agent:${agentId}:main` ? 'main' : 'direct';
  return {
    sessionKey,
    agentId,
    content: input,
    provenance: { kind: 'external_user', channel: 'http' },
    subject: { channel: 'http', sender: 'owner', session: kind },
    route: `${scheme}${requestId}`,
    ...(!named && { ephemeral: true, history }),
    ...(idempotencyKey ? { idempotencyKey: `http:${idempotencyKey}` } : { volatile: true }),
  };
}

/** The key was used before: its answer may be there, or still to come under the item's id. */
async function rejoin({ itemId, state }: Receipt, run: Run, waiter: Waiter) {
  waiter.joins(itemId);
  const stored = await run.get(Outbox).find(itemId);
  if (stored) waiter.answered(stored);
  else if (state === 'cancelled') waiter.failed(badRequest('the request of this Idempotency-Key was cancelled', 'request_cancelled', 409));
}

/** An item that ended without an answer (cancelled by hand, say) must not keep its request open for ever. */
function lookout(itemId: string, run: Run, waiter: Waiter): Disposable {
  const look = async () => {
    try {
      if (
        run
          .get(Inbox)
          .active()
          .some((item) => item.itemId === itemId)
      )
        return;
      const stored = await run.get(Outbox).find(itemId);
      if (stored) waiter.answered(stored);
      else waiter.failed(new KernelError('TURN_LOST', 'the turn ended without an answer'));
    } catch (error) {
      waiter.failed(error);
    }
  };
  const timer = setInterval(() => void look(), 15_000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A client that does not read must not hold the session's next turn. */
async function flushedIn(exchange: Exchange, ms = 30_000): Promise<boolean> {
  const late = setTimeout(() => exchange.raw.response.destroy(), ms);
  const isOut = await exchange.flushed;
  clearTimeout(late);
  return isOut;
}
