/**
 * The door of the page and the terminal: WebSocket methods of the gateway.
 *
 * - `chat.send {text, sessionKey?, agentId?, images?, idempotencyKey?, model?}` → `{itemId, sessionKey, agentId}`
 * - `chat.stop {sessionKey}` → `{stopped}`
 * - `chat.result {itemId}` → `{state: waiting | running | done | unknown, delivery?, cursor?}`: the stored answer of an item,
 *   for a client that lost its socket; while it runs, replay after `cursor` shows what its turn is saying
 * - `sessions.list {agentId?, limit?}` → `{sessions: SessionRecord[]}`
 * - `sessions.history {sessionKey}` → `{session?, entries: Entry[], cursor, active}`: replay events after `cursor`.
 *   `session` is absent while there is none. A replayed `message_end` may repeat an entry (its id is the `messageId`)
 * - `sessions.reset {sessionKey}` → `{session}` · `sessions.remove {sessionKey}` → `{removed}`; both stop what runs and what waits
 * - `events.watch {sessionKey?, after?}` → `{cursor, missed}` and frames `{event: 'live', data: LiveEvent}`; what is
 *   replayed comes before the answer. One watch per client: another one replaces it · `events.stop {}`
 * - `agents.list {}` → `{agents: {id, name?}[], defaultId}`: for a picker where there is more than one
 * - `status {}` → `{inspection, report: ReportLine[], active}`
 * - `approvals.list {}` → `{questions}` · `approvals.answer {id, answer}` → `{answered}` · `approvals.attend {name}` → `{}`
 *
 * The same events as server-sent ones: `GET /v1/events?session=<key>&after=<cursor>` (event-source.ts).
 *
 * Events of a turn (`LiveEvent.type` and `data`):
 */
export interface TurnEvents {
  agent_start: { itemId: string; agentId: string; model: string };
  /** Only for assistant messages. */
  message_start: { messageId: string; role: 'assistant' };
  message_update: { messageId: string; kind: 'text' | 'thinking' | 'toolCall'; index: number; delta: string; name?: string };
  /** Of every message that joins the transcript, the user's too. */
  message_end: { messageId: string; message: import('../sessions/contract.ts').Message; itemId?: string };
  tool_execution_start: { callId: string; name: string; args: unknown };
  tool_execution_update: { callId: string; partial: import('../../kernel/index.ts').ToolResult };
  tool_execution_end: { callId: string; name: string; result: import('../../kernel/index.ts').ToolResult; ms: number };
  agent_end: {
    itemId: string;
    stopReason: string;
    usage: import('../sessions/contract.ts').Usage;
    error?: { code: string; message: string };
    payloads: readonly import('../outbox/contract.ts').Payload[];
    ms: number;
    /** The item whose turn answered this one too; the usage is that one's. */
    joins?: string;
  };
  /** From here on another model answers in this session than before; `isBack`: it is again the one that is wanted. */
  model_switched: { from: string; to: string; isBack: boolean; reason?: string };
  /** All models of the turn rest; this one is asked again after so many milliseconds. */
  model_waiting: { model: string; profile: string; reason: string; ms: number };
  /** Something that passes by itself, such as a full disk, holds the turn up. */
  turn_waiting: { message: string };
  /** What was shown of the message under way (thinking, the start of a call) counts no more: it begins anew. */
  reply_restarted: { reason: string };
  /** SPEC 7.7: the conversation is made shorter, before a request (`budget`), after one that was too long, or by command. */
  auto_compaction_start: { trigger: 'budget' | 'overflow' | 'command'; tokensBefore: number };
  /** `messages`: how many of them now are a summary; 0: only old tool results were shortened. */
  auto_compaction_end: { trigger: string; tokensBefore: number; tokensAfter: number; messages: number; error?: string };
  /** The model's window is small; told once per model. */
  context_window_warning: { model: string; contextWindow: number; message: string };
  approval_requested: { question: import('../approvals/contract.ts').Question };
  approval_resolved: { id: string; answer: string; by: string };
  /** Without a session: the terminal and the page show them. */
  generation_swapped: import('../../kernel/index.ts').Swap;
  generation_rejected: { generation: number; error: string };
  /** Only in development mode: what a replaced or removed plugin left running, e.g. `a timer`, and the `file:line` that made it. */
  plugin_leak: { plugin: string; what: string; place: string };
  session_changed: { session: import('../sessions/contract.ts').SessionRecord };
}

/** Characters of `chat.send`'s text. */
export const longestText = 1_000_000;
