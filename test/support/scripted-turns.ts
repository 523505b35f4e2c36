import { definePlugin, type EnterRun, type Plugin } from '../../kernel/index.ts';
import { Agents } from '../../plugins/agents/contract.ts';
import { Events } from '../../plugins/events/contract.ts';
import { type Arrival, Inbox } from '../../plugins/inbox/contract.ts';
import { type Delivery, Outbox, type Payload, SendDelivery, type SendResult } from '../../plugins/outbox/contract.ts';
import { type Entry, type Message, type SessionRecord, Sessions } from '../../plugins/sessions/contract.ts';

export const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, totalTokens: 20 };

/** What a script does with one message: it speaks as a turn would, through events, transcript and outbox. */
export interface ScriptedTurn {
  readonly arrival: Arrival;
  readonly itemId: string;
  readonly runId: string;
  /** Aborts when the item is cancelled or its session stopped. */
  readonly signal: AbortSignal;
  emit(type: string, data: Record<string, unknown>): void;
  /** A message of the assistant, delta by delta. */
  stream(messageId: string, deltas: readonly string[]): Promise<void>;
  join(id: string, message: Message): void;
}

export interface Ending {
  readonly payloads?: readonly Payload[];
  readonly stopReason?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Stands in for inbox, turns, outbox, sessions and agents: a script answers, all in memory, for tests of the doors. */
export interface ScriptedTurns {
  readonly plugin: Plugin;
  readonly arrivals: Arrival[];
  readonly cancelled: string[];
  readonly settled: { readonly route: string; readonly result: SendResult | undefined }[];
  answer: (turn: ScriptedTurn) => Promise<Ending | void> | Ending | void;
}

const textOf = ({ content }: Arrival) =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('');

export const assistant = (text: string): Message => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  api: 'a',
  provider: 'p',
  model: 'm',
  usage,
  stopReason: 'stop',
  timestamp: 1,
});

export function scriptedTurns(agentIds: readonly string[] = ['main', 'helper']): ScriptedTurns {
  const sessions = new Map<string, { record: SessionRecord; entries: Entry[] }>();
  const running = new Map<string, { sessionKey: string; abort: AbortController }>();
  const keys = new Map<string, string>();
  const deliveries = new Map<string, Delivery>();
  let count = 0;

  const sessionOf = (key: string, agentId = 'main') => {
    const now = Date.now();
    const facts = { key, sessionId: `s${++count}`, agentId, title: '', createdAt: now, updatedAt: now, ephemeral: false };
    const found = sessions.get(key) ?? { record: facts, entries: [] };
    sessions.set(key, found);
    return found;
  };

  const take = (arrival: Arrival, itemId: string, enter: EnterRun, events: Events) => {
    const { sessionKey, route } = arrival;
    const abort = new AbortController();
    running.set(itemId, { sessionKey, abort });
    const { entries } = sessionOf(sessionKey, arrival.agentId);
    void enter(async (run) => {
      const emit: ScriptedTurn['emit'] = (type, data) => events.publish({ type, sessionKey, runId: run.id, data });
      const join: ScriptedTurn['join'] = (id, message) => {
        entries.push({ type: 'message', id, parentId: null, timestamp: new Date().toISOString(), message, itemId });
        emit('message_end', { messageId: id, message });
      };
      const stream: ScriptedTurn['stream'] = async (messageId, deltas) => {
        emit('message_start', { messageId, role: 'assistant' });
        for (const delta of deltas) emit('message_update', { messageId, kind: 'text', index: 0, delta });
        join(messageId, assistant(deltas.join('')));
      };
      emit('agent_start', { itemId, agentId: arrival.agentId, model: 'p/m' });
      join(`u-${itemId}`, { role: 'user', content: arrival.content, timestamp: Date.now() });
      const signal = AbortSignal.any([abort.signal, run.signal]);
      const ended = await turns.answer({ arrival, itemId, runId: run.id, signal, emit, stream, join });
      const {
        payloads = [{ text: `You said: ${textOf(arrival)}` }],
        stopReason = signal.aborted ? 'aborted' : 'stop',
        error,
      } = ended ?? {};
      running.delete(itemId);
      const meta = { runId: run.id, usage, stopReason, ...(error && { error }) };
      emit('agent_end', { itemId, payloads, ms: 1, ...meta });
      const delivery: Delivery = { id: `d-${itemId}`, route, sessionKey, itemId, payloads, meta, attempt: 0 };
      deliveries.set(itemId, delivery);
      turns.settled.push({ route, result: await run.call(SendDelivery, delivery) });
    });
  };

  const plugin = definePlugin({
    name: 'scripted-turns',
    description: 'inbox, outbox, sessions and agents of a test',
    needs: { events: Events },
    provides: [Inbox, Outbox, Agents, Sessions],
    setup(ctx) {
      ctx.provide(Inbox, {
        async enqueue(arrival) {
          turns.arrivals.push(arrival);
          const known = arrival.idempotencyKey && keys.get(arrival.idempotencyKey);
          if (known) return { itemId: known, known: true, state: running.has(known) ? 'open' : 'done' };
          const itemId = `i${++count}`;
          if (arrival.idempotencyKey) keys.set(arrival.idempotencyKey, itemId);
          take(arrival, itemId, ctx.run, ctx.needs.events);
          return { itemId, known: false, state: 'open' };
        },
        abort(sessionKey) {
          const found = [...running.values()].find((turn) => turn.sessionKey === sessionKey);
          found?.abort.abort();
          return found !== undefined;
        },
        clear(sessionKey, _run, work) {
          for (const turn of running.values()) if (turn.sessionKey === sessionKey) turn.abort.abort();
          return work();
        },
        async cancel(itemId) {
          turns.cancelled.push(itemId);
          running.get(itemId)?.abort.abort();
          return running.has(itemId);
        },
        async finish() {},
        aside: (_, work) => work(),
        active: () =>
          [...running].map(([itemId, { sessionKey }]) => {
            return { sessionKey, itemId, state: 'running' as const, since: 1, lane: 'main', mode: 'followup' as const };
          }),
      });
      ctx.provide(Outbox, {
        put: () => Promise.reject(new Error('not scripted')),
        deliver: () => Promise.reject(new Error('not scripted')),
        find: async (itemId) => deliveries.get(itemId),
      });
      ctx.provide(Agents, {
        ids: agentIds,
        defaultId: agentIds[0] ?? 'main',
        defaults: {},
        path: (id) => `agents.list[${agentIds.indexOf(id)}]`,
        own: (id) => (agentIds.includes(id) ? { id } : undefined),
        field: () => undefined,
        sessionAgent: ({ agentId }) => agentId ?? 'main',
        workspace: () => '/nowhere',
        dir: () => '/nowhere',
      });
      ctx.provide(Sessions, {
        ensure: async (key, { agentId }) => sessionOf(key, agentId).record,
        find: async (key) => sessions.get(key)?.record,
        list: async () => [...sessions.values()].map(({ record }) => record),
        open: async (key) => ({
          sessionId: sessionOf(key).record.sessionId,
          file: '/nowhere',
          entries: sessionOf(key).entries,
          append: () => Promise.reject(new Error('not scripted')),
          compact: () => Promise.reject(new Error('not scripted')),
          shown: () => [],
          history: async () => [],
        }),
        shown: (history) => history,
        fileOf: async () => '/nowhere',
        adopt: () => Promise.reject(new Error('not scripted')),
        async reset(key) {
          const record = { ...sessionOf(key).record, sessionId: `s${++count}` };
          sessions.set(key, { record, entries: [] });
          return record;
        },
        async remove(key) {
          sessions.delete(key);
        },
      });
    },
  });
  const turns: ScriptedTurns = { plugin, arrivals: [], cancelled: [], settled: [], answer: () => undefined };
  return turns;
}
