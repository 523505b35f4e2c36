import { describe, expect, test } from 'vitest';
import type { Content } from '../../../kernel/index.ts';
import { askIn as understood } from '../../../plugins/model-demo/ask.ts';
import modelDemo from '../../../plugins/model-demo/index.ts';
import { summaryOf } from '../../../plugins/model-demo/summary.ts';
import models from '../../../plugins/models/index.ts';
import type { Message, ToolCallPart } from '../../../plugins/sessions/contract.ts';
import { bootTest } from '../../support/kernel.ts';
import { askIn, user, type Asked } from '../models/asking.ts';

const spec = (name: string) => ({ name, description: '', parameters: { type: 'object' } });
const all = ['read', 'write', 'edit', 'apply_patch', 'exec'].map(spec);

async function demo(messages: readonly Message[], tools = all, more: { signal?: AbortSignal; on?: () => void } = {}): Promise<Asked> {
  await using kernel = await bootTest([models, modelDemo]);
  return await kernel.kernel.run((run) => askIn(run, 'demo/demo', { messages, tools, ...more }));
}

const callIn = ({ message }: Asked) => message.content.find((part): part is ToolCallPart => part.type === 'toolCall');

/** One round: the demo's call for a request, answered, and what it says then. */
async function round(said: string, content: readonly Content[], isError = false, tools = all) {
  const asked = await demo([user(said)], tools);
  const call = callIn(asked)!;
  const result: Message = { role: 'toolResult', toolCallId: call.id, toolName: call.name, content, isError, timestamp: 1 };
  return { call, reply: await demo([user(said), asked.message, result], tools) };
}
const text = (said: string): readonly Content[] => [{ type: 'text', text: said }];

const exec = (command: string) => ({ tool: 'exec', args: { command } });
const read = (path: string, aim = 'show') => ({ tool: 'read', args: { path }, aim });
const write = (path: string, content: string) => ({ tool: 'write', args: { path, content } });

test.each<[string, object]>([
  ['list the files', read('.')],
  ['What files are in this folder?', read('.')],
  ['list files in src', read('src')],
  ['ls', read('.')],
  ['列出文件', read('.')],
  ['read README.md', read('README.md')],
  ['hi there, can you read src/index.ts?', read('src/index.ts')],
  ['read "my notes.md"', read('my notes.md')],
  ['open LICENSE', read('LICENSE')],
  ['read README.md and say what this is', read('README.md', 'summary')],
  ['summarize package.json', read('package.json', 'summary')],
  ['读 README.md，说说这是什么', read('README.md', 'summary')],
  ['run `date`', exec('date')],
  ['please run the command `ls -la | wc -l`', exec('ls -la | wc -l')],
  ['run date', exec('date')],
  ['运行 `date`', exec('date')],
  ['what time is it', exec('date')],
  ['现在几点', exec('date')],
  ['write hello to a.txt', write('a.txt', 'hello')],
  ['write "one\ntwo" into the file notes/a.md.', write('notes/a.md', 'one\ntwo')],
  ['create a file x.txt with some words', write('x.txt', 'some words')],
  ['spawn a sub-agent to list the files', { tool: 'sessions_spawn', args: { task: 'list the files' } }],
  ['hello', { kind: 'greeting' }],
  ['你好', { kind: 'greeting' }],
  ['help', { kind: 'abilities' }],
  ['read me a story', { kind: 'unknown' }],
  ['how are you', { kind: 'unknown' }],
  ['', { kind: 'unknown' }],
])('SPEC 15.1: %j is understood', (said, expected) => {
  expect(understood(said)).toMatchObject(expected);
});

describe('a turn', () => {
  test('the first line of the first reply says that no language model is configured, and how to set one', async () => {
    const first = await demo([user('hello')]);
    const [line] = first.text.split('\n');
    expect(line).toMatch(/^No language model is configured: .*ANTHROPIC_API_KEY.*agents\.defaults\.model/);
    const second = await demo([user('hello'), first.message, user('hello')]);
    expect(second.text).toMatch(/^Hello! Try "list the files"/);
  });

  test('after a tool round too, the first reply begins with it', async () => {
    const { call, reply } = await round(
      'read README.md and say what this is',
      text('# Instar\n\n[![badge](x)](y)\n\nA tiny kernel\nfor agents.\n\nMore.\n'),
    );
    expect(call).toMatchObject({ name: 'read', arguments: { path: 'README.md' } });
    const [line, ...rest] = reply.text.split('\n');
    expect(line).toMatch(/^No language model is configured/);
    expect(rest.join('\n').trim()).toBe('README.md (8 lines) is titled "Instar". It begins:\n\n> A tiny kernel for agents.');
    expect(reply.message.stopReason).toBe('stop');
  });

  test('what a command wrote is shown in a fence that it cannot close', async () => {
    const { reply } = await round('run `cat x`', text('```\nnot the end\n```'));
    expect(reply.text).toContain('`cat x` wrote:\n\n````\n```\nnot the end\n```\n````');
  });

  test('a denied call is told as it is', async () => {
    const { reply } = await round('run `date`', text('denied: nobody is there to approve'), true);
    expect(reply.text).toContain('That did not work. exec answered:\n\n```\ndenied: nobody is there to approve\n```');
  });

  test('a written file is told in a line', async () => {
    const { reply } = await round('write hello to a.txt', text('Created a.txt (5 bytes)'));
    expect(reply.text).toContain('Done: Created a.txt (5 bytes)');
  });

  test('only offered tools are called', async () => {
    const { call } = await round('list the files', text('a'), false, [spec('exec')]);
    expect(call).toMatchObject({ name: 'exec', arguments: { command: 'ls -F' } });
    const odd = await demo([user('read "it\'s $(id).md"')], [spec('exec')]);
    expect(callIn(odd)!.arguments).toEqual({ command: String.raw`cat -- 'it'\''s $(id).md'` });
    const status = await round('what time is it', text('a'), false, [...all, spec('session_status')]);
    expect(status.call).toMatchObject({ name: 'session_status' });
    const none = await demo([user('run `date`')], [spec('read')]);
    expect(callIn(none)).toBeUndefined();
    expect(none.text).toContain('the tool "exec", which is not offered here');
  });

  test.each([
    ['use roll_dice', {}],
    ['please use the tool `roll_dice` {"count": 2}', { count: 2 }],
    ['roll_dice {"count": 2}', { count: 2 }],
  ])('any offered tool is called by its name: %s', async (said, args) => {
    const { call, reply } = await round(said, text('4 2'), false, [spec('roll_dice')]);
    expect(call).toMatchObject({ name: 'roll_dice', arguments: args });
    expect(reply.text).toContain('roll_dice answered:\n\n```\n4 2\n```');
  });

  test('anything else is said back with what the demo can do', async () => {
    const reply = await demo([user('prove the Riemann hypothesis')]);
    expect(reply.text).toContain('You said: "prove the Riemann hypothesis". That is beyond this demo. Try "list the files"');
    const without = await demo([user('prove it')], []);
    expect(without.text).toContain('None of the tools that I know are offered here.');
  });

  test('Chinese is answered in Chinese, the notice too', async () => {
    const reply = await demo([user('你好')]);
    expect(reply.text).toMatch(/^没有配置语言模型（No language model is configured）.*ANTHROPIC_API_KEY/);
    expect(reply.text).toContain('你好！可以试试：');
  });

  test('the reply streams in small pieces, is the same every time, and counts its tokens', async () => {
    const [one, two] = [await demo([user('hello')]), await demo([user('hello')])];
    expect(one.events.length).toBeGreaterThan(20);
    expect(one.events.map((event) => event.delta).join('')).toBe(one.text);
    expect(two.events).toEqual(one.events);
    expect(one.message.usage.totalTokens).toBeGreaterThan(0);
  });

  test('a stop ends it within its sentence', async () => {
    const stop = new AbortController();
    const reply = await demo([user('hello')], all, { signal: stop.signal, on: () => stop.abort() });
    expect(reply.failure).toMatchObject({ code: 'MODEL_ABORTED' });
    expect(reply.text.length).toBeLessThan(80);
  });

  test('calls of one session have ids of their own', async () => {
    const first = await demo([user('run `date`')]);
    const result: Message = {
      role: 'toolResult',
      toolCallId: callIn(first)!.id,
      toolName: 'exec',
      content: text('x'),
      isError: false,
      timestamp: 1,
    };
    const second = await demo([user('run `date`'), first.message, result, user('run `date`')]);
    expect(callIn(second)!.id).not.toBe(callIn(first)!.id);
  });
});

test.each([
  ['a.txt', 'just words\nand more\n', 'a.txt has 2 lines. It begins:\n\n> just words and more'],
  ['a.md', '## Title ##\n', 'a.md (1 line) is titled "Title".'],
  ['empty', ' \n', 'empty is empty.'],
  [
    'p.json',
    '{"name":"instar","description":"d","x":1}',
    'p.json is JSON (1 line) with name "instar", description "d", the keys name, description, x.',
  ],
  ['l.json', '[1,2]', 'l.json is JSON (1 line) with 2 entries.'],
])('the summary of %s makes nothing up', (name, content, expected) => {
  expect(summaryOf(name, content)).toBe(expected);
});
