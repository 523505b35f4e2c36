import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bodyOf } from '../../../plugins/models-openai/wire.ts';
import type { Model, ModelRequest } from '../../../plugins/models/contract.ts';
import { noUsage } from '../../../plugins/models/contract.ts';
import type { AssistantPart, Message } from '../../../plugins/sessions/contract.ts';
import { modelAt } from './scripted.ts';

type Body = Readonly<Record<string, unknown>> & { readonly messages: readonly Readonly<Record<string, unknown>>[] };

function sent(more: Partial<ModelRequest>, model: Partial<Model> = {}, url = 'http://127.0.0.1:9/v1'): Body {
  const request = {
    model: modelAt(url, model),
    system: '',
    messages: [],
    tools: [],
    apiKey: undefined,
    signal: new AbortController().signal,
  };
  return JSON.parse(bodyOf({ ...request, ...more }).toString()) as Body;
}

const user = (content: Extract<Message, { role: 'user' }>['content']): Message => ({ role: 'user', content, timestamp: 1 });
const assistant = (...content: AssistantPart[]): Message => ({
  role: 'assistant',
  content,
  api: 'x',
  provider: 'p',
  model: 'm',
  usage: noUsage,
  stopReason: 'stop',
  timestamp: 1,
});
const result = (toolCallId: string, content: Extract<Message, { role: 'toolResult' }>['content']): Message => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content,
  isError: false,
  timestamp: 1,
});
const call = (id: string): AssistantPart => ({ type: 'toolCall', id, name: 'read', arguments: { path: 'a' } });
const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } as const;

test('a conversation is sent in the protocol’s words', () => {
  const { messages } = sent({
    system: 'Be brief.',
    messages: [
      user('read "a"'),
      assistant({ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'Yes.' }, call('c1')),
      result('c1', [{ type: 'text', text: 'A' }]),
    ],
  });
  expect(messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'read "a"' },
    {
      role: 'assistant',
      content: 'Yes.',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'A' },
  ]);
});

test.each<[string, readonly Message[], readonly object[]]>([
  [
    'without a system prompt the first message is first',
    [user('a'), user('b')],
    [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  ],
  [
    'an empty reply is left out',
    [user('a'), assistant(), user('b')],
    [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  ],
  [
    'a reply of thinking alone is left out',
    [user('a'), assistant({ type: 'thinking', thinking: 'x' }), user('b')],
    [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  ],
  [
    'text in parts is one text',
    [
      user([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ],
    [{ role: 'user', content: 'a\nb' }],
  ],
  [
    'a model that sees nothing is told so',
    [user([{ type: 'text', text: 'a' }, image])],
    [{ role: 'user', content: 'a\n(an image, which this model cannot see)' }],
  ],
  [
    'an empty result says so',
    [user('a'), assistant(call('c')), result('c', [])],
    [
      { role: 'user', content: 'a' },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'c', content: '(no output)' },
    ],
  ],
  ['where nobody said anything, something is asked: no server takes an empty list', [], [{ role: 'user', content: '(go on)' }]],
])('%s', (_, messages, expected) => {
  expect(sent({ messages }).messages).toEqual(expected);
});

test('images of tool results follow the last result of their round', () => {
  const messages = [
    user('look'),
    assistant(call('c1'), call('c2')),
    result('c1', [image]),
    result('c2', [{ type: 'text', text: 'B' }, image]),
    user('and?'),
  ];
  const roles = sent({ messages }, { input: ['text', 'image'] }).messages.map(({ role, content }) => [
    role,
    Array.isArray(content) ? content.length : content,
  ]);
  expect(roles).toEqual([
    ['user', 'look'],
    ['assistant', null],
    ['tool', '(the image follows)'],
    ['tool', 'B'],
    ['user', 2],
    ['user', 'and?'],
  ]);
});

test('a message is turned into bytes once for each way of sending it', () => {
  let reads = 0;
  const message = user('a');
  Object.defineProperty(message, 'content', { get: () => (reads++, 'a') });
  const readsOf = (input: Model['input']) => {
    const before = reads;
    sent({ messages: [message] }, { input });
    return reads - before;
  };
  expect(readsOf(['text'])).toBeGreaterThan(0);
  expect(readsOf(['text'])).toBe(0);
  expect(readsOf(['text', 'image'])).toBeGreaterThan(0);
  expect(readsOf(['text', 'image'])).toBe(0);
});

test('a tool is turned into JSON anew only where it changed', () => {
  const parameters = { type: 'object' };
  const names = (name: string) =>
    (sent({ tools: [{ name, description: 'd', parameters }] })['tools'] as { function: { name: string } }[])[0]!.function.name;
  expect([names('a'), names('b'), names('a')]).toEqual(['a', 'b', 'a']);
});

test('the answer is given the room that the input leaves', () => {
  expect(sent({})['max_tokens']).toBe(4096);
  expect(sent({ maxTokens: 10 })['max_tokens']).toBe(10);
  expect(sent({ system: 'x'.repeat(294_000) })['max_tokens']).toBeLessThan(2000);
  expect(sent({ system: 'x'.repeat(400_000) })['max_tokens']).toBe(1024);
  const picture = { ...image, data: 'A'.repeat(1_000_000) };
  const messages = [user([picture]), result('c', [picture])];
  expect(sent({ messages }, { input: ['text', 'image'] })['max_tokens']).toBe(4096);
});

test.each<[string, Partial<Model>, string, Partial<ModelRequest>, object]>([
  [
    'OpenAI itself',
    { reasoning: true },
    'https://api.openai.com/v1',
    { thinking: 'low', sessionId: 's' },
    { max_completion_tokens: 4096, reasoning_effort: 'low', prompt_cache_key: 's' },
  ],
  [
    'a compat flag over the host',
    { compat: { maxTokensField: 'max_tokens', supportsUsageInStreaming: false } },
    'https://api.openai.com/v1',
    {},
    { max_tokens: 4096, stream_options: undefined },
  ],
  [
    'a server that knows no effort',
    { reasoning: true, compat: { supportsReasoningEffort: false } },
    'http://x/v1',
    { thinking: 'high' },
    { reasoning_effort: undefined },
  ],
  ['a model that does not think', {}, 'http://x/v1', { thinking: 'high' }, { reasoning_effort: undefined }],
  ['thinking that is off', { reasoning: true }, 'http://x/v1', { thinking: 'off' }, { reasoning_effort: undefined }],
  ['a temperature', {}, 'http://x/v1', { temperature: 0 }, { temperature: 0 }],
])('%s', (_, model, url, request, expected) => {
  const body = sent(request, model, url);
  for (const [field, value] of Object.entries(expected)) expect(body[field]).toEqual(value);
});

test('SPEC 7.5: a model without tools is offered none', () => {
  const tools = [{ name: 'read', description: '', parameters: {} }];
  expect(sent({ tools }, { compat: { supportsTools: false } })['tools']).toBeUndefined();
});

test('DeepSeek gets its thinking back, Mistral ids of nine characters', () => {
  const messages = [
    user('a'),
    assistant({ type: 'thinking', thinking: 'hm' }, call('call_0123456789abcdef')),
    result('call_0123456789abcdef', []),
  ];
  expect(sent({ messages }, {}, 'https://api.deepseek.com').messages[1]).toMatchObject({ reasoning_content: 'hm' });
  const [, asked, answered] = sent({ messages }, {}, 'https://api.mistral.ai/v1').messages;
  const [{ id }] = asked!['tool_calls'] as [{ id: string }];
  expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(answered!['tool_call_id']).toBe(id);
});

test('what is kept of a message is its own bytes, whatever else is sent in between', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', join(import.meta.dirname, 'kept-bytes.ts')]);
  expect(Number(stdout)).toBeGreaterThan(0); // they are held
  expect(Number(stdout)).toBeLessThan(2_000_000); // a piece of Node's pool for each would be 13 MB
});
