import { expect, test } from 'vitest';
import type { FailureReason } from '../../../plugins/models/contract.ts';
import { reasonOf } from '../../../plugins/models/reason.ts';

const groq = { provider: 'groq', baseUrl: 'https://api.groq.com/openai/v1' };
const mine = { provider: 'mine', baseUrl: 'https://models.example/v1' };

/** What people and models write; each is what some provider says of an account, a model or a conversation. */
const words = [
  'my card was declined: insufficient funds, credit balance is too low',
  'the model you want is not found',
  'your context window is full, the prompt is too long',
  'this does not support tools',
];

const generated = (text: string) => ({
  error: { message: 'Failed to call a function.', type: 'invalid_request_error', code: 'tool_use_failed', failed_generation: text },
});
const echoed = (text: string) => ({
  detail: [
    {
      type: 'extra_forbidden',
      loc: ['body', 'x'],
      msg: 'Extra inputs are not permitted',
      input: { messages: [{ role: 'user', content: text }] },
    },
  ],
});

const failed = (status: number, body: string) => ({ code: 'MODEL_HTTP', message: `HTTP ${status}`, status, body }) as const;

test.for(words)('what a provider sends back of a conversation is not its verdict: %s', (text) => {
  const of = (model: typeof mine, status: number, body: string) => reasonOf(model, failed(status, body));
  expect(of(groq, 400, JSON.stringify(generated(text)))).toEqual({ reason: 'format', perModel: true });
  expect(of(mine, 422, JSON.stringify(echoed(text)))).toEqual({ reason: 'format' });
  expect(of(mine, 422, JSON.stringify(echoed(text)).slice(0, -3))).toEqual({ reason: 'format' }); // as it is where the body was cut
});

test('nor is it where the body was cut, however much of it there is', () => {
  const input = { error: { message: 'insufficient funds: prompt is too long', code: 'insufficient_quota' }, pad: 'x'.repeat(50) };
  const bodies = [
    { detail: [{ type: 'x', msg: 'bad', input }] },
    { error: { message: 'bad \\ "tool" result', code: 'x', request: input } },
    { error: { message: 'bad', type: 'x', failed_generation: JSON.stringify(input) } },
  ];
  for (const body of bodies.map((each) => JSON.stringify(each)))
    for (let length = body.indexOf('bad'); length <= body.length; length++)
      expect([body.slice(0, length), reasonOf(mine, failed(422, body.slice(0, length)))]).toEqual([
        body.slice(0, length),
        { reason: 'format' },
      ]);
});

test.for<readonly [string, FailureReason]>([
  ['{"detail":[{"msg":"maximum context length is 10"}]}', 'context_overflow'],
  ['{"error":{"message":"upstream","metadata":{"raw":"{\\"error\\":{\\"message\\":\\"insufficient funds\\"}}"}}}', 'billing'],
  ['{"error":{"message":"insufficient funds, said ', 'billing'],
  ['{"error":{"message":"insufficient funds","half":"\\u00', 'billing'],
  ['{"error":{"message":"insufficient funds","code":', 'billing'],
  ['insufficient funds', 'billing'],
])('what it says of itself is, wherever it stands: %s', ([body, reason]) => {
  expect(reasonOf(mine, { code: 'MODEL_HTTP', message: 'HTTP 400', status: 400, body }).reason).toBe(reason);
});
