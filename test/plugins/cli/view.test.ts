import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { askingView } from '../../../plugins/cli/asking.ts';
import type { Client } from '../../../plugins/cli/client.ts';
import { plain } from '../../../plugins/cli/contract/terminal.ts';
import type { TurnView } from '../../../plugins/cli/turn.ts';
import { turnView } from '../../../plugins/cli/view.ts';

const message = (...texts: string[]) =>
  ({ role: 'assistant', content: texts.map((text) => ({ type: 'text', text })) }) as unknown as Parameters<
    NonNullable<TurnView['message_end']>
  >[0]['message'];

function shown(show: (view: TurnView) => void): string {
  let text = '';
  show(turnView((more) => (text += more)));
  return stripVTControlCharacters(text);
}

const delta = (view: TurnView, text: string) => view.message_update?.({ messageId: 'm', kind: 'text', index: 0, delta: text });
const done = { content: [{ type: 'text', text: 'two\nlines' }] } as const;

test('text is shown as it comes, and what the stream skipped comes with the end of the message', () => {
  expect(
    shown((view) => {
      delta(view, 'Hel');
      delta(view, 'lo');
      view.message_end?.({ messageId: 'm', message: message('Hello you', ' and more') });
    }),
  ).toBe('Hello you and more\n');
});

test('what is said beside an answer, such as that it was cut, is a line behind it', () => {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  const end = { itemId: 'i', stopReason: 'length', usage, ms: 1, payloads: [{ text: 'half' }, { text: 'it was cut', isError: true }] };
  const of = (more: object) =>
    shown((view) => {
      delta(view, 'half');
      view.agent_end?.({ ...end, ...more });
    });
  expect(of({})).toBe('half\nit was cut\n');
  expect(of({ error: { code: 'X', message: 'it was cut' } })).toBe('half\n'); // told by whoever asked
});

test('a tool call is a line of its own, with its arguments and what came of it', () => {
  expect(
    shown((view) => {
      delta(view, 'I look.');
      view.tool_execution_start?.({ callId: 'c', name: 'read', args: { path: 'README.md', lines: 3 } });
      view.tool_execution_end?.({ callId: 'c', name: 'read', result: done, ms: 3.4 });
      view.tool_execution_end?.({ callId: 'd', name: 'read', result: { ...done, isError: true }, ms: 1 });
    }),
  ).toBe('I look.\n> read README.md 3\n  two lines (3 ms)\n  failed: two lines (1 ms)\n');
});

test('nothing that a model or a tool says moves the cursor or turns the text', () => {
  expect(plain('a\u001b[2Jb\r\u009bc\u202ed\te\nf')).toBe('a\u{fffd}[2Jb\u{fffd}\u{fffd}c\u{fffd}d\te\nf');
  expect(shown((view) => delta(view, '\u001b]0;title\u0007x'))).toBe('\u{fffd}]0;title\u{fffd}x');
});

test.each([
  ['y', 'once'],
  ['yes', 'once'],
  ['', 'deny'],
  ['n', 'deny'],
  ['yikes', 'deny'],
])('SPEC 4.4: the terminal shows the exact command and asks; "%s" is %s', async (typed, answer) => {
  const { asked, view, input, answered } = asking();
  view.approval_requested?.({ question });
  await asked('exec (agent main, asked for by sender "owner")\n    date; ls\nAllow "exec"? (y/N) ');
  input.write(`${typed}\n`);
  expect(await answered).toEqual(['approvals.answer', { id: 'q', answer }]);
});

test('a question that is answered elsewhere is taken back, and the next one is asked', async () => {
  const { asked, view, input, answered } = asking();
  view.approval_requested?.({ question: { ...question, id: 'first' } });
  view.approval_requested?.({ question });
  await asked('Allow "exec"? (y/N) ');
  view.approval_resolved?.({ id: 'first', answer: 'deny', by: 'page' });
  await asked('Allow "exec"? (y/N) ');
  input.write('y\n');
  expect(await answered).toEqual(['approvals.answer', { id: 'q', answer: 'once' }]);
});

test.each([
  ['once', 'page', 'allowed by page'],
  ['always', 'page', 'allowed from now on by page'],
  ['aborted', 'the run', 'taken back by the run'],
  ['timeout', 'nobody', 'denied, for nobody answered in time'],
])('a question that ends elsewhere with "%s" says so', async (answer, by, told) => {
  const { asked, view } = asking();
  view.approval_requested?.({ question });
  view.approval_resolved?.({ id: 'q', answer, by });
  await asked(`\n${told}\n`);
});

const facts = { tool: 'exec', what: 'date; ls', why: 'asked for by sender "owner"', agent: 'main', sessionKey: 'agent:main:main' };
const question = { id: 'q', ...facts, reasons: [], always: [], askedAt: 0, expiresAt: 30_000 };

function asking() {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: 'utf8' });
  const terminal = createInterface({ input, output });
  const { promise: answered, resolve } = Promise.withResolvers<unknown[]>();
  const client = { call: async (...call: unknown[]) => resolve(call) } as unknown as Client;
  const view = askingView(
    { current: client, client: async () => client, leave: async () => {} },
    () => terminal,
    (text) => output.write(stripVTControlCharacters(text)),
  );
  const asked = async (text: string) => {
    let heard = '';
    for (;;) {
      heard += (output.read() as string | null) ?? '';
      if (heard.includes(text)) return;
      await new Promise((ready) => output.once('readable', ready));
    }
  };
  return { asked, view, input, answered };
}

test('a wait is a line: for a model that rests, and for what passes by itself', () => {
  const text = shown((view) => {
    view.model_waiting?.({ model: 'a/1', profile: 'k', reason: 'rate_limit', ms: 2400 });
    view.turn_waiting?.({ message: 'the disk is full' });
    delta(view, 'Hi');
  });
  expect(text).toMatch(/^a\/1 rests \(rate limit\); asked again in 3 s\nthe disk is full\nHi/);
});

test('SPEC 7.8: a change of the model, and the way back, are a line each', () => {
  const text = shown((view) => {
    view.model_switched?.({ from: 'a/1', to: 'b/1', isBack: false, reason: 'rate_limit' });
    delta(view, 'Hi');
    view.model_switched?.({ from: 'b/1', to: 'a/1', isBack: true });
  });
  expect(text).toBe('b/1 answers in place of a/1 (rate limit)\nHi\na/1 answers again\n');
});

test('the answer of a word such as /help, which no turn streamed, is shown; what was streamed is not shown twice', () => {
  const end = (text: string) => ({ payloads: [{ text }] }) as unknown as Parameters<NonNullable<TurnView['agent_end']>>[0];
  expect(
    shown((view) => {
      view.agent_end?.(end('A list'));
      delta(view, 'hello');
      view.agent_end?.(end('hello'));
      view.agent_end?.(end('Stopped.'));
    }),
  ).toBe('A list\nhello\nStopped.\n');
});
