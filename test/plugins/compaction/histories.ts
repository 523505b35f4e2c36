import * as fc from 'fast-check';
import {
  type AssistantMessage,
  type AssistantPart,
  joining,
  type Message,
  type ShownMessage,
  type UserMessage,
} from '../../../plugins/sessions/contract.ts';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

export const user = (content: string): UserMessage => ({ role: 'user', content, timestamp: 1 });

export const assistant = (content: readonly AssistantPart[]): AssistantMessage => ({
  role: 'assistant',
  content,
  api: 'x',
  provider: 'p',
  model: 'm',
  usage,
  stopReason: content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop',
  timestamp: 1,
});
export const said = (text: string) => assistant([{ type: 'text', text }]);

export const result = (toolCallId: string, text: string): Message => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp: 1,
});

export const shownOf = (messages: readonly Message[]): readonly ShownMessage[] =>
  messages.map((message, i) => ({ entryId: `e${i}`, message }));

const text = (maxLength: number) => fc.string({ unit: 'grapheme', minLength: 1, maxLength });
/** Most are short, some are long. */
const length = fc.oneof({ weight: 5, arbitrary: fc.nat(200) }, { weight: 2, arbitrary: fc.nat(6_000) });
const words = fc.tuple(text(20), length).map(([word, size]) => (word + ' ').repeat(Math.ceil((size + 1) / (word.length + 1))));

let count = 0;
const round = fc.tuple(fc.array(words, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.option(words)).map(([results, speaks, steers]) => {
  const ids = results.map(() => `c${count++}`);
  const calls = ids.map((id) => ({ type: 'toolCall', id, name: 'read', arguments: { path: id } }) as const);
  const steering = steers === null || results.length > 2 ? [] : [joining(user(steers))];
  return [
    assistant([...(speaks ? [{ type: 'text', text: 'I look' } as const] : []), ...calls]),
    ...ids.map((id, i) => result(id, results[i] as string)),
    ...steering,
  ];
});

/** The user's words, rounds of calls with results (and what steered into them), an answer. */
const turn = fc
  .tuple(fc.array(words, { minLength: 1, maxLength: 2 }), fc.array(round, { maxLength: 4 }), words)
  .map(([asked, rounds, answer]): readonly Message[] => [
    ...asked.map((one, i) => (i ? joining(user(one)) : user(one))),
    ...rounds.flat(),
    said(answer),
  ]);

/** Whole turns, then one that is under way: up to its question, or up to the results of a round. */
export const histories = fc
  .tuple(fc.array(turn, { maxLength: 12 }), words, fc.array(round, { maxLength: 4 }))
  .map(([turns, asked, rounds]): readonly Message[] => [...turns.flat(), user(asked), ...rounds.flat()]);
