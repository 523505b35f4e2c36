import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { type Content, KernelError } from '../../kernel/index.ts';
import type { Question } from '../../plugins/approvals/contract.ts';
import type { LiveEvent } from '../../plugins/events/contract.ts';
import type { Fault } from '../../plugins/faults/contract.ts';
import type { AssistantPart, Entry, Message, SessionRecord } from '../../plugins/sessions/contract.ts';
import { createAssets } from '../../plugins/web/assets.ts';

/** Speaks the gateway's protocol to the page, from a script: what the model says and when is the test's to decide. */
export interface FakeGateway extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Called for each message that is sent; the turn it is handed writes the answer. */
  answer: (turn: FakeTurn, text: string) => Promise<void> | void;
  /** Every `chat.send` that made a new item, in order. */
  readonly sent: readonly string[];
  readonly answers: readonly { readonly id: string; readonly answer: string }[];
  readonly stops: readonly string[];
  agents: { id: string; name?: string }[];
  status: Record<string, unknown>;
  /** Undefined: there is no such method. */
  faults: readonly Fault[] | undefined;
  refusesSends: boolean;
  /** Histories end where the turn began, so that its replay overlaps what is stored. */
  replaysWholeTurn: boolean;
  /** The next `chat.send` is taken, but the socket dies before its receipt. */
  losesNextReceipt: boolean;
  /** Closes every socket, as a network does that goes away. */
  dropSockets(): void;
  /** While held, no socket is accepted. */
  hold(held: boolean): void;
  publish(type: string, data: Record<string, unknown>, sessionKey?: string): void;
  seed(session: Partial<SessionRecord> & { key: string }, messages: readonly Message[]): void;
}

interface FakeSession {
  record: SessionRecord;
  readonly entries: Entry[];
  running: string | undefined;
  settled: number;
  began: number;
}

const assets = createAssets();

const usage = { input: 1840, output: 212, cacheRead: 1536, cacheWrite: 0, totalTokens: 3588, cost: { total: 0.0113 } };

export async function fakeGateway(): Promise<FakeGateway> {
  const gateway = new Fake();
  await gateway.listen();
  return gateway;
}

class Fake implements FakeGateway {
  readonly token = 'test-token+/=';
  readonly sent: string[] = [];
  readonly answers: { id: string; answer: string }[] = [];
  readonly stops: string[] = [];
  readonly #sessions = new Map<string, FakeSession>();
  readonly #events: LiveEvent[] = [];
  readonly #watchers = new Map<WebSocket, boolean>();
  readonly #keys = new Map<string, { itemId: string; sessionKey: string; agentId: string }>();
  readonly #questions = new Map<string, Question>();
  readonly #waiting = new Map<string, (answer: string) => void>();
  readonly #deliveries = new Map<string, unknown>();
  readonly #stopping = new Map<string, AbortController>();
  readonly #server = createServer((request, response) => void this.#serve(request.url ?? '/', request.headers, response));
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'instar' });
  #held = false;
  agents: { id: string; name?: string }[] = [{ id: 'main' }];
  status: Record<string, unknown> = { inspection: emptyInspection, report: [], active: [] };
  faults: readonly Fault[] | undefined = [];
  refusesSends = false;
  losesNextReceipt = false;
  replaysWholeTurn = false;
  answer: FakeGateway['answer'] = (turn, text) => turn.say(`You said: ${text}`);

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen() {
    this.#server.on('upgrade', (request, socket, head) => {
      const offered = request.headers['sec-websocket-protocol'] ?? '';
      const expected = `instar, instar.token.${Buffer.from(this.token).toString('base64url')}`;
      if (this.#held || offered.replaceAll(',', ', ').replaceAll('  ', ' ') !== expected) {
        return void socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
      }
      return this.#sockets.handleUpgrade(request, socket, head, (client) => this.#connected(client));
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async #serve(target: string, headers: Parameters<ReturnType<typeof createAssets>>[1], response: ServerResponse) {
    const { pathname } = new URL(target, this.url);
    if (pathname === '/access') {
      return response.writeHead(headers.authorization === `Bearer ${this.token}` ? 204 : 401).end();
    }
    const asset = await assets(pathname, headers);
    return response.writeHead(asset.status, asset.headers).end(asset.body);
  }

  #connected(client: WebSocket) {
    client.on('message', (data: Buffer) => {
      const { id, method, params } = JSON.parse(data.toString()) as { id: number; method: string; params: Params };
      let answer: object;
      try {
        answer = { ok: true, result: this.#call(client, method, params) };
      } catch (error) {
        const { code, message } = error as KernelError;
        answer = { ok: false, error: { code, message } };
      }
      if (method === 'chat.send' && this.losesNextReceipt) {
        this.losesNextReceipt = false;
        return client.terminate();
      }
      return client.send(JSON.stringify({ id, ...answer }));
    });
    client.on('close', () => this.#watchers.delete(client));
  }

  #call(client: WebSocket, method: string, params: Params): unknown {
    const methods: Record<string, () => unknown> = {
      'chat.send': () => this.#send(params),
      'chat.stop': () => this.#stop(params['sessionKey'] ?? ''),
      'chat.result': () => this.#result(params['itemId'] ?? ''),
      'sessions.list': () => ({ sessions: [...this.#sessions.values()].map(({ record }) => record) }),
      'sessions.history': () => this.#history(params['sessionKey'] ?? ''),
      'sessions.remove': () => ({ removed: this.#sessions.delete(params['sessionKey'] ?? '') }),
      'events.stop': () => ({ stopped: this.#watchers.delete(client) }),
      'events.watch': () => this.#watch(client, Number(params['after']?.split('.')[1] ?? this.#events.length)),
      'agents.list': () => ({ agents: this.agents, defaultId: this.agents[0]?.id }),
      'approvals.attend': () => ({}),
      'approvals.list': () => ({ questions: [...this.#questions.values()] }),
      'approvals.answer': () => this.#answerQuestion(params['id'] ?? '', params['answer'] ?? ''),
      status: () => this.status,
      ...(this.faults && { 'plugins.faults': () => ({ faults: this.faults }) }),
    };
    const found = methods[method];
    if (!found) throw new KernelError('METHOD_UNKNOWN', `no method ${method}`);
    return found();
  }

  #send({ text = '', sessionKey = '', idempotencyKey = '', agentId = 'main' }: Params) {
    if (this.refusesSends) throw new KernelError('DISK_FULL', 'the inbox cannot be written: free some space and send again');
    const known = this.#keys.get(idempotencyKey);
    if (known) return known;
    const receipt = { itemId: randomUUID(), sessionKey, agentId };
    this.#keys.set(idempotencyKey, receipt);
    this.sent.push(text);
    const session = this.#session(sessionKey, { title: text.slice(0, 60), agentId });
    void this.#run(session, receipt.itemId, text);
    return receipt;
  }

  async #run(session: FakeSession, itemId: string, text: string) {
    const { key } = session.record;
    const stopping = new AbortController();
    this.#stopping.set(key, stopping);
    session.running = itemId;
    session.began = this.#events.length;
    await Promise.resolve(); // the receipt goes first
    this.publish('agent_start', { itemId, agentId: session.record.agentId, model: 'demo/echo' }, key);
    const turn = new FakeTurn(this, session, itemId, stopping.signal);
    turn.join({ role: 'user', content: text, timestamp: Date.now() });
    await this.answer(turn, text);
    turn.finish();
  }

  #stop(sessionKey: string) {
    this.stops.push(sessionKey);
    this.#stopping.get(sessionKey)?.abort();
    return { stopped: true };
  }

  #result(itemId: string) {
    const delivery = this.#deliveries.get(itemId);
    return delivery ? { state: 'done', delivery } : { state: 'waiting' };
  }

  #history(sessionKey: string) {
    const session = this.#sessions.get(sessionKey);
    if (!session) return { entries: [], cursor: `boot.${this.#events.length}`, active: [] };
    const active = session.running ? [{ sessionKey, itemId: session.running, state: 'running', since: Date.now() }] : [];
    return {
      session: session.record,
      entries: session.entries,
      cursor: `boot.${this.replaysWholeTurn ? session.began : session.settled}`,
      active,
    };
  }

  #watch(client: WebSocket, after: number) {
    this.#watchers.set(client, true);
    for (const event of this.#events.slice(after)) client.send(JSON.stringify({ event: 'live', data: event }));
    return { cursor: `boot.${this.#events.length}`, missed: false };
  }

  #session(key: string, facts: Partial<SessionRecord>): FakeSession {
    const now = Date.now();
    const record = { key, sessionId: key, agentId: 'main', title: '', createdAt: now, updatedAt: now, ephemeral: false };
    const found = this.#sessions.get(key) ?? { record: { ...record, ...facts }, entries: [], running: undefined, settled: 0, began: 0 };
    this.#sessions.set(key, found);
    return found;
  }

  publish(type: string, data: Record<string, unknown>, sessionKey?: string) {
    if (type === 'agent_end') this.#deliveries.set(String(data['itemId']), { payloads: data['payloads'], meta: data });
    const event = { cursor: `boot.${this.#events.length + 1}`, type, data, ...(sessionKey && { sessionKey }) };
    this.#events.push(event);
    const session = sessionKey && this.#sessions.get(sessionKey);
    if (session && (type === 'message_end' || type === 'agent_end')) session.settled = this.#events.length;
    for (const client of this.#watchers.keys()) client.send(JSON.stringify({ event: 'live', data: event }));
  }

  ask(question: Question): Promise<string> {
    this.#questions.set(question.id, question);
    const answered = new Promise<string>((resolve) => this.#waiting.set(question.id, resolve));
    this.publish('approval_requested', { question }, question.sessionKey);
    return answered;
  }

  #answerQuestion(id: string, answer: string) {
    this.answers.push({ id, answer });
    const answered = this.#questions.delete(id);
    this.publish('approval_resolved', { id, answer, by: 'page' });
    this.#waiting.get(id)?.(answer);
    return { answered };
  }

  seed(facts: Partial<SessionRecord> & { key: string }, messages: readonly Message[]) {
    const session = this.#session(facts.key, facts);
    for (const message of messages) session.entries.push(entry(message, randomUUID()));
  }

  dropSockets() {
    for (const client of this.#sockets.clients) client.terminate();
  }

  hold(held: boolean) {
    this.#held = held;
  }

  async [Symbol.asyncDispose]() {
    this.dropSockets();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** One turn under way; each method tells the page what a real turn would. */
export class FakeTurn {
  readonly signal: AbortSignal;
  readonly itemId: string;
  readonly sessionKey: string;
  readonly #gateway: Fake;
  readonly #session: FakeSession;
  #messageId = '';
  #parts: AssistantPart[] = [];
  #ended = false;
  #error: { code: string; message: string } | undefined;

  constructor(gateway: Fake, session: FakeSession, itemId: string, signal: AbortSignal) {
    this.#gateway = gateway;
    this.#session = session;
    this.itemId = itemId;
    this.signal = signal;
    this.sessionKey = session.record.key;
  }

  /** Text of the answer, as one delta. */
  say(text: string) {
    this.#stream('text', text);
  }

  think(text: string) {
    this.#stream('thinking', text);
  }

  switchModel(change: Record<string, unknown>) {
    this.#publish('model_switched', change);
  }

  /** What was shown of the message counts no more. */
  restart() {
    this.#parts = [];
    this.#publish('reply_restarted', { reason: 'overloaded' });
  }

  /** Calls a tool and tells its result; `work` runs between the two. */
  async tool(name: string, args: Record<string, unknown>, result: string, facts: ToolFacts = {}) {
    const id = `call-${randomUUID()}`;
    this.#part({ type: 'toolCall', id, name, arguments: args });
    this.#update('toolCall', JSON.stringify(args), name);
    this.endMessage('toolUse');
    this.#publish('tool_execution_start', { callId: id, name, args });
    await facts.work?.();
    const content: Content[] = [{ type: 'text', text: result }];
    const isError = facts.isError ?? false;
    this.#publish('tool_execution_end', { callId: id, name, result: { content, isError }, ms: facts.ms ?? 42 });
    this.join({ role: 'toolResult', toolCallId: id, toolName: name, content, isError, timestamp: Date.now() });
  }

  ask(facts: Partial<Question>): Promise<string> {
    const now = Date.now();
    const { sessionKey } = this;
    return this.#gateway.ask({
      id: randomUUID(),
      tool: 'exec',
      what: 'date',
      why: 'exec asks before it runs',
      agent: 'main',
      sessionKey,
      cwd: '/home/ada/notes',
      reasons: ['date: it is not on the allowlist'],
      always: ['/usr/bin/date in /home/ada/notes'],
      askedAt: now,
      expiresAt: now + 30_000,
      ...facts,
    });
  }

  fail(code: string, message: string) {
    this.#error = { code, message };
    this.endMessage('error');
  }

  endMessage(stopReason: 'stop' | 'toolUse' | 'error' | 'aborted' = 'stop') {
    if (!this.#messageId) return;
    const facts = { api: 'demo', provider: 'demo', model: 'echo', usage, stopReason, timestamp: Date.now() };
    const errorMessage = this.#error && { errorMessage: this.#error.message };
    this.join({ role: 'assistant', content: this.#parts, ...facts, ...errorMessage }, this.#messageId);
    this.#messageId = '';
    this.#parts = [];
  }

  finish() {
    if (this.#ended) return;
    this.#ended = true;
    const stopReason = this.#error ? 'error' : this.signal.aborted ? 'aborted' : 'stop';
    this.endMessage(stopReason);
    this.#session.running = undefined;
    const { itemId } = this;
    this.#publish('agent_end', { itemId, stopReason, usage, payloads: [], ms: 3420, ...(this.#error && { error: this.#error }) });
  }

  join(message: Message, messageId: string = randomUUID()) {
    this.#session.entries.push(entry(message, messageId, this.itemId));
    this.#publish('message_end', { messageId, message, itemId: this.itemId });
  }

  #stream(kind: 'text' | 'thinking', delta: string) {
    const last = this.#parts.at(-1);
    if (last?.type === 'text' && kind === 'text') this.#parts[this.#parts.length - 1] = { ...last, text: last.text + delta };
    else this.#part(kind === 'text' ? { type: 'text', text: delta } : { type: 'thinking', thinking: delta });
    this.#update(kind, delta);
  }

  #part(part: AssistantPart) {
    if (!this.#messageId) {
      this.#messageId = randomUUID();
      this.#publish('message_start', { messageId: this.#messageId, role: 'assistant' });
    }
    this.#parts.push(part);
  }

  #update(kind: string, delta: string, name?: string) {
    const index = this.#parts.length - 1;
    this.#publish('message_update', { messageId: this.#messageId, kind, index, delta, ...(name && { name }) });
  }

  #publish(type: string, data: Record<string, unknown>) {
    this.#gateway.publish(type, data, this.sessionKey);
  }
}

interface ToolFacts {
  readonly work?: () => unknown;
  readonly isError?: boolean;
  readonly ms?: number;
}

type Params = Readonly<Partial<Record<string, string>>>;

const emptyInspection = { generation: 1, instances: [], leftOut: [], retiring: [], runs: 0, leases: [] };

const entry = (message: Message, id: string, itemId?: string): Entry => ({
  type: 'message',
  id,
  parentId: null,
  message,
  timestamp: new Date(message.timestamp).toISOString(),
  ...(itemId && { itemId }),
});
