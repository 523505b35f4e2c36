import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { definePlugin, defineTool, Host, RegisterTools, text } from '../../kernel/index.ts';
import agents from '../../plugins/agents/index.ts';
import events from '../../plugins/events/index.ts';
import type { Arrival, QueueMode } from '../../plugins/inbox/contract.ts';
import inbox from '../../plugins/inbox/index.ts';
import models from '../../plugins/models/index.ts';
import { SendDelivery } from '../../plugins/outbox/contract.ts';
import outbox from '../../plugins/outbox/index.ts';
import prompt from '../../plugins/prompt/index.ts';
import runtime from '../../plugins/runtime-embedded/index.ts';
import type { Message } from '../../plugins/sessions/contract.ts';
import sessions from '../../plugins/sessions/index.ts';
import { Store } from '../../plugins/store/contract.ts';
import store from '../../plugins/store/index.ts';
import { allowAll, fakeModel, type TestKernel, testKernel } from '../../plugins/testing/kit.ts';
import turns from '../../plugins/turns/index.ts';

/** The tool leaves a mark in the world each time it runs. */
const effect = definePlugin({
  name: 'effect',
  description: 'test',
  needs: { host: Host },
  setup(ctx) {
    const file = join(ctx.needs.host.home, 'effects');
    const parameters = { type: 'object', properties: {} } as const;
    const execute = () => {
      appendFileSync(file, 'x\n');
      return text('done');
    };
    ctx.tap(RegisterTools, (tools) => [...tools, defineTool({ name: 'effect', description: '', parameters, execute })]);
  },
});

const door = definePlugin({
  name: 'door',
  description: 'test',
  setup: (ctx) => ctx.tap(SendDelivery, ({ route }) => (route.startsWith('test:') ? { kind: 'delivered' } : undefined)),
});

/** Asks for the tool once where it is told to; what came back, even "interrupted", ends the turn. */
const mind = () =>
  fakeModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'toolResult') return 'the tool has answered';
    return last?.content === 'use the tool' ? { calls: [{ name: 'effect' }] } : `you said: ${JSON.stringify(last?.content)}`;
  });

/** The real plugins from the inbox to the outbox, in this process. */
export const bootForCrash = (home: string) =>
  testKernel({
    home,
    plugins: [store, agents, models, sessions, inbox, outbox, turns, runtime, prompt, events, allowAll, effect, door, mind()],
    config: {
      agents: { defaults: { model: 'fake/fake', workspace: join(home, 'ws') } },
      messages: { queue: { cap: 2, debounceMs: 0 } },
    },
  });

const open = "SELECT (SELECT count(*) FROM inbox WHERE state = 'open') + (SELECT count(*) FROM outbox WHERE state = 'waiting') AS n";

/** Once everything that was accepted is answered, and every answer sent. */
export async function allDone({ kernel }: TestKernel): Promise<void> {
  const count = () => kernel.run((run) => run.get(Store).tx((t) => t.get<{ n: number }>(open)));
  while ((await count())?.n) await pause(5);
}

const arrival = (content: string, facts: Partial<Arrival> = {}): Arrival => ({
  sessionKey: 'agent:main:test',
  agentId: 'main',
  content,
  route: `test:${content}`,
  provenance: { kind: 'external_user' },
  subject: { channel: 'test', sender: 'owner', session: 'main' },
  ...facts,
});

const said = (content: string): Message => ({ role: 'user', content, timestamp: 1 });
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const client = { api: 'client', provider: 'client', model: 'client', usage, stopReason: 'stop', timestamp: 1 } as const;
const replied = (words: string): Message => ({ role: 'assistant', content: [{ type: 'text', text: words }], ...client });
const history = [said('one'), replied('two')];
const together = (mode: QueueMode) => ({ mode, route: 'test:together' });
const stateless = { sessionKey: 'agent:main:http:1', ephemeral: true, idempotencyKey: 'k', history };

/** What is sent, and every write that outlives the process, in order. A session goes on once its turn has its end, while the answer is sent. */
export const scenarios = {
  'a tool call, and a message that waits': {
    arrivals: [arrival('use the tool'), arrival('next')],
    writes: [
      'insert inbox, insert inbox',
      'insert sessions',
      'transcript: user',
      'transcript: assistant',
      'file: effects',
      'transcript: toolResult',
      'transcript: assistant',
      'update inbox, insert outbox',
      'insert sessions, update outbox',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox',
      'update outbox',
    ],
  },
  'a stateless client with its history': {
    arrivals: [arrival('three', stateless)],
    writes: [
      'insert inbox',
      'insert sessions',
      'transcript: user',
      'transcript: assistant',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox',
      'update outbox',
    ],
  },
  'a message that steers': {
    arrivals: [arrival('use the tool', together('followup')), arrival('next', together('steer'))],
    writes: [
      'insert inbox, insert inbox',
      'insert sessions',
      'transcript: user',
      'transcript: assistant',
      'file: effects',
      'transcript: toolResult',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox, update inbox, insert outbox',
      'update outbox',
    ],
  },
  'messages that are collected': {
    arrivals: [arrival('use the tool', together('collect')), arrival('one', together('collect')), arrival('two', together('collect'))],
    writes: [
      'insert inbox, insert inbox, insert inbox',
      'insert sessions',
      'transcript: user',
      'transcript: user',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox, update inbox, insert outbox, update inbox, insert outbox',
      'update outbox',
    ],
  },
  'a message that interrupts': {
    arrivals: [arrival('use the tool'), arrival('next', { mode: 'interrupt' })],
    writes: [
      'insert inbox, insert inbox',
      'insert sessions',
      'transcript: user',
      'update inbox, insert outbox',
      'insert sessions, update outbox',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox',
      'update outbox',
    ],
  },
  'one message too many': {
    arrivals: [arrival('one'), arrival('two', together('collect')), arrival('three', together('collect')), arrival('four')],
    writes: [
      'insert inbox, insert inbox, insert inbox, insert inbox',
      'update inbox, insert outbox, insert sessions',
      'update outbox',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox',
      'insert sessions, update outbox',
      'transcript: user',
      'transcript: user',
      'transcript: assistant',
      'update inbox, insert outbox, update inbox, insert outbox',
      'update outbox',
    ],
  },
  'a stop': {
    arrivals: [arrival('use the tool'), arrival('next'), arrival('/stop')],
    writes: [
      'insert inbox, insert inbox, insert inbox',
      'update inbox, insert outbox, insert sessions',
      'update outbox',
      'transcript: user',
      'update inbox, insert outbox',
      'update inbox, insert outbox, update outbox',
      'update outbox',
    ],
  },
  'a word to the queue, and a new conversation': {
    arrivals: [arrival('/queue steer'), arrival('hello'), arrival('/new')],
    writes: [
      'insert inbox, insert inbox, insert inbox',
      'insert inbox_modes, insert sessions',
      'update inbox, insert outbox',
      'transcript: user',
      'update outbox, update inbox, insert outbox',
      'update outbox',
      'insert sessions',
      'update inbox, insert outbox',
      'update outbox',
    ],
  },
} as const;

export type ScenarioName = keyof typeof scenarios;
