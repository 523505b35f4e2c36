import * as fc from 'fast-check';
import type { AssistantPart, Message, ToolCallPart } from '../../plugins/sessions/contract.ts';

/** The models of the test, by what is peculiar to each. */
export const makers = [
  { provider: 'local', api: 'openai-completions', id: 'm' },
  { provider: 'mistral', api: 'openai-completions', id: 'short-ids', compat: { requiresMistralToolIds: true } },
  { provider: 'deep', api: 'openai-completions', id: 'thinks', compat: { requiresReasoningContentOnAssistantMessages: true } },
  { provider: 'blind', api: 'openai-completions', id: 'text-only', input: ['text'] },
  { provider: 'openai', api: 'openai-responses', id: 'gpt-5', reasoning: true },
  { provider: 'proxy', api: 'openai-responses', id: 'gpt-5', reasoning: true },
  { provider: 'anthropic', api: 'anthropic-messages', id: 'claude', reasoning: true },
  { provider: 'google', api: 'google-generative-ai', id: 'gemini-2.5-flash', reasoning: true },
  { provider: 'google', api: 'google-generative-ai', id: 'gemini-3-pro', reasoning: true },
] as const;

const long = 'x'.repeat(70);
export const oddIds = [
  'call_1',
  '1',
  'a.b',
  'a_b',
  'a_b_',
  '',
  `${long}1`,
  `${long}2`,
  'call_1|fc_1',
  'call_2|fc_1',
  'call_1|odd',
  '|fc_9',
  'functions.read:0',
  'toolu_01',
  '日本',
  'a|b|c',
];
export const oddNames = ['read', 'read', 'functions.read', '', 'read file', '9lives', 'x'.repeat(80), 'über'];
export const oddTexts = ['hello', '', ' ', '\n', '\ud83d', 'ok \ud83d\ude00', 'half \ude00', 'two\nlines'];
const signatures = [
  '',
  'signed',
  'c2ln',
  'not base64!',
  '{}',
  'not json',
  ...['rs_1', 'rs_2', 'odd'].flatMap((id) => [
    item(id, 'enc'),
    item(id, undefined),
    JSON.stringify({ type: 'reasoning', id, encrypted_content: 'enc' }),
  ]),
];
function item(id: string, encrypted: string | undefined) {
  return JSON.stringify({ type: 'reasoning', id, summary: [], ...(encrypted && { encrypted_content: encrypted }) });
}

const text = fc.constantFrom(...oddTexts);
const optional = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const image = fc.record({
  type: fc.constant('image'),
  mimeType: fc.constantFrom('image/png', 'image/png', 'image/svg+xml', '', undefined),
  data: fc.constantFrom('iVBORw0KGgo=', 'iVBORw0KGgo=', '', 'no base64', 'abc'),
});
const content = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: text.map((said) => ({ type: 'text', text: said })) },
    image,
    fc.constantFrom<object>({ type: 'resource', uri: 'x' }, { type: 'text' }, { type: 'image' }),
  ),
  { maxLength: 3 },
);
const id = fc.constantFrom(...oddIds);
const name = fc.constantFrom(...oddNames);
const args = fc.constantFrom<unknown>({}, { path: 'a' }, { s: '\udc00', deep: [{ t: '\ud83d' }] }, null, 'text', [1], undefined);

const part = fc.oneof(
  fc.record({
    type: fc.constant('text'),
    text,
    textSignature: optional(['msg_1', 'msg_2', '{"v":1,"id":"msg_1"}', 'odd', 'c2ln', `msg_${long}`]),
  }),
  fc.record({ type: fc.constant('thinking'), thinking: text, thinkingSignature: optional(signatures), redacted: optional([true]) }),
  fc.record({ type: fc.constant('toolCall'), id, name, arguments: args, thoughtSignature: optional(['c2ln', 'not base64!']) }),
);

/** Lines of a file may lack anything, and share nothing. */
const torn = fc
  .constantFrom<object>(
    { type: 'text' },
    { type: 'thinking' },
    { type: 'toolCall' },
    { type: 'odd' },
    { type: 'thinking', thinking: 'x', thinkingSignature: 5 },
  )
  .map((one) => ({ ...one }));

const stopReason = fc.constantFrom('stop', 'toolUse', 'length', 'error', 'aborted');
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const assistant = fc.record({
  content: fc.array(fc.oneof({ weight: 9, arbitrary: part }, torn), { maxLength: 5 }),
  maker: fc.constantFrom(...makers),
  stopReason,
  used: optional([usage]),
});

type Loose = Readonly<Record<string, unknown>>;
const message = (loose: Loose) => ({ timestamp: 1, ...loose }) as unknown as Message;
const reply = ({
  content: parts,
  maker: { provider, api, id: model },
  stopReason: ended,
  used,
}: {
  content: readonly unknown[];
  maker: (typeof makers)[number];
  stopReason: string;
  used: object | undefined;
}) => message({ role: 'assistant', content: parts, provider, api, model, usage: used, stopReason: ended });

/** A reply with results for most of its calls, in any order. */
const round = fc
  .tuple(assistant, fc.array(fc.record({ content, isError: fc.boolean(), order: fc.nat() }), { minLength: 4, maxLength: 4 }), fc.nat(9))
  .map(([said, results, missing]) => {
    const parts = said.content as readonly AssistantPart[];
    const calls = parts.filter((one): one is ToolCallPart => one.type === 'toolCall' && one.id !== undefined);
    const answers = calls.slice(0, 4).flatMap((call, i) => (missing === i ? [] : [{ ...results[i]!, call }]));
    return [
      reply(said),
      ...answers
        .toSorted((a, b) => a.order - b.order)
        .map(({ call, content: came, isError }) =>
          message({ role: 'toolResult', toolCallId: call.id, toolName: call.name, content: came, isError }),
        ),
    ];
  });

/** Piles of messages such as crashes, imports, limits and servers of all kinds leave behind. */
export const oddConversation: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.oneof(text, content).map((said) => [message({ role: 'user', content: said })]) },
      { weight: 4, arbitrary: round },
      assistant.map((said) => [reply(said)]),
      fc
        .record({ id, name, content, isError: fc.boolean() })
        .map((one) => [
          message({ role: 'toolResult', toolCallId: one.id, toolName: one.name, content: one.content, isError: one.isError }),
        ]),
    ),
    { maxLength: 8 },
  )
  .map((groups) => groups.flat());
