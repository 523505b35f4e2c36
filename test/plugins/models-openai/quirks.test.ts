import { expect, test } from 'vitest';
import { invalidArguments } from '../../../plugins/models/contract.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import { call, delta, scripted, stream, type Answered } from './scripted.ts';

const done = '[DONE]';
const ends = [delta({}, 'tool_calls'), done];
const calls = ({ message }: Answered) =>
  message.content.flatMap((part) => (part.type === 'toolCall' ? [{ name: part.name, arguments: part.arguments }] : []));
const ids = ({ message }: Answered) => message.content.flatMap((part) => (part.type === 'toolCall' ? part.id : []));

const read = (path: string) => ({ name: 'read', arguments: { path } });
const args = (path: string) => JSON.stringify({ path });

test.each<[string, readonly (object | string)[], readonly object[]]>([
  [
    'in pieces',
    [call({ index: 0, id: 'a' }, 'read', ''), call({ index: 0 }, undefined, '{"pa'), call({ index: 0 }, undefined, 'th":"1"}')],
    [read('1')],
  ],
  [
    'interleaved',
    [
      call({ index: 0, id: 'a' }, 'read', '{"path":'),
      call({ index: 1, id: 'b' }, 'read', args('2')),
      call({ index: 0 }, undefined, '"1"}'),
    ],
    [read('1'), read('2')],
  ],
  [
    'all of index 0',
    [call({ index: 0, id: 'a' }, 'read', args('1')), call({ index: 0, id: 'b' }, 'read', args('2'))],
    [read('1'), read('2')],
  ],
  ['without an index', [call({ id: 'a' }, 'read', args('1')), call({ id: 'b' }, 'read', args('2'))], [read('1'), read('2')]],
  ['without an index, in pieces', [call({ id: 'a' }, 'read', '{"path":'), call({}, undefined, '"1"}')], [read('1')]],
  [
    'with the name in every piece',
    [call({ index: 0, id: 'a' }, 'read', '{"path":'), call({ index: 0, id: 'a' }, 'read', '"1"}')],
    [read('1')],
  ],
  [
    'with the id in the first piece only, and the name again',
    [call({ index: 0, id: 'a' }, 'read', '{"path":'), call({ index: 0 }, 'read', '"1"}')],
    [read('1')],
  ],
  ['with arguments that are an object', [call({ index: 0, id: 'a' }, 'read', { path: '1' })], [read('1')]],
  ['without arguments', [call({ index: 0, id: 'a' }, 'now')], [{ name: 'now', arguments: {} }]],
])('tool calls that come %s are put together', async (_, chunks, expected) => {
  await using server = await scripted(stream([...chunks, ...ends]));
  const reply = await server.ask();
  expect(reply.failure).toBeUndefined();
  expect(calls(reply)).toEqual(expected);
  expect(new Set(ids(reply)).size).toBe(expected.length);
});

test('ids that are missing, doubled or known from before are made anew', async () => {
  const chunks = [
    call({ index: 0 }, 'read', args('1')),
    call({ index: 1, id: 'x' }, 'read', args('2')),
    call({ index: 2, id: 'x' }, 'read', args('3')),
    call({ index: 3, id: 'old' }, 'read', args('4')),
  ];
  await using server = await scripted(stream([...chunks, ...ends]));
  const before: Message = { role: 'toolResult', toolCallId: 'old', toolName: 'read', content: [], isError: false, timestamp: 1 };
  const reply = await server.ask({ messages: [before] });
  expect(calls(reply)).toEqual([read('1'), read('2'), read('3'), read('4')]);
  const [first, second, third, fourth] = ids(reply);
  expect(second).toBe('x');
  for (const made of [first, third, fourth]) expect(made).toMatch(/^call_[0-9a-f]{24}$/);
  const told = reply.events.flatMap((event) => (event.type === 'toolCall' ? event.id : []));
  expect(told).toEqual(ids(reply));
});

test.each<[string, readonly (object | string)[], object]>([
  ['no [DONE] at the end', [delta({ content: 'hi' }), delta({}, 'stop')], { stopReason: 'stop' }],
  ['no finish reason at the end', [delta({ content: 'hi' }), done], { stopReason: 'stop' }],
  ['chunks after [DONE]', [delta({ content: 'hi' }), done, delta({ content: ' no' })], { stopReason: 'stop' }],
  [
    'empty choices',
    [{ choices: [] }, delta({ content: 'hi' }), { usage: null, choices: [] }, delta({}, 'stop'), done],
    { stopReason: 'stop' },
  ],
  ['the length limit', [delta({ content: 'hi' }), delta({}, 'length'), done], { stopReason: 'length' }],
  ['content in typed pieces', [delta({ content: [{ type: 'text', text: 'hi' }] }), delta({}, 'stop')], { stopReason: 'stop' }],
  [
    '"stop" in place of "tool_calls"',
    [delta({ content: 'hi' }), call({ index: 0, id: 'a' }, 'read', args('1')), delta({}, 'stop')],
    { stopReason: 'toolUse' },
  ],
])('a stream with %s is a reply', async (_, chunks, expected) => {
  await using server = await scripted(stream(chunks));
  const reply = await server.ask();
  expect(reply.failure).toBeUndefined();
  expect(reply.message).toMatchObject(expected);
  expect(reply.message.content[0]).toEqual({ type: 'text', text: 'hi' });
});

test.each([
  ['within its arguments', '{"pa'],
  ['before its first argument', ''],
])('a call that the length limit cut %s is kept as one that cannot run, so that the model can be told', async (_, raw) => {
  const cut = (finish: string) =>
    stream([call({ index: 0, id: 'a' }, 'read', args('1')), call({ index: 1, id: 'b' }, 'read', raw), delta({}, finish)]);
  for (const finish of ['length', 'model_length']) {
    await using server = await scripted(cut(finish));
    const reply = await server.ask();
    expect(calls(reply)).toEqual([read('1'), { name: 'read', arguments: invalidArguments(raw) }]);
    expect(reply.message.stopReason).toBe('length');
  }
});

test('a call without arguments is cut where nobody said that the reply has ended, and whole where it has', async () => {
  await using unended = await scripted(stream([call({ index: 0, id: 'a' }, 'now', ''), done]));
  expect(calls(await unended.ask())).toEqual([{ name: 'now', arguments: invalidArguments('') }]);
  await using ended = await scripted(stream([call({ index: 0, id: 'a' }, 'now', ''), ...ends]));
  expect(calls(await ended.ask())).toEqual([{ name: 'now', arguments: {} }]);
  await using first = await scripted(
    stream([call({ index: 0, id: 'a' }, 'now', ''), call({ index: 1, id: 'b' }, 'read', args('1')), delta({}, 'length')]),
  );
  expect(calls(await first.ask())).toEqual([{ name: 'now', arguments: {} }, read('1')]);
});

test.each(['reasoning_content', 'reasoning', 'reasoning_text'])('thinking in the field %s is told once', async (field) => {
  const twice = field === 'reasoning_content' ? { reasoning: 'hm' } : {};
  await using server = await scripted(stream([delta({ [field]: 'hm', ...twice }), delta({ content: 'so' }), delta({}, 'stop')]));
  const reply = await server.ask();
  expect(reply.message.content).toEqual([
    { type: 'thinking', thinking: 'hm', thinkingSignature: field },
    { type: 'text', text: 'so' },
  ]);
});

test.each<[string, readonly (object | string)[], object]>([
  ['a chunk that is no JSON', [delta({ content: 'hi' }), '{"choices":[{'], { code: 'MODEL_BAD_REPLY' }],
  ['a chunk that is a list', ['[1]'], { code: 'MODEL_BAD_REPLY' }],
  [
    'an error in the stream',
    [delta({ content: 'hi' }), { error: { message: 'overloaded', code: 503 } }],
    { code: 'MODEL_HTTP', status: 503 },
  ],
  [
    'an error in the stream, bare as vLLM sends it, before the reply',
    [
      delta({ role: 'assistant', content: '' }),
      { object: 'error', message: 'CUDA out of memory', type: 'InternalServerError', code: 500 },
      done,
    ],
    { code: 'MODEL_HTTP', status: 500, body: expect.stringContaining('CUDA out of memory') },
  ],
  [
    'the same within the reply',
    [delta({ content: 'The answer is' }), { object: 'error', message: 'CUDA out of memory', code: 500 }, done],
    { code: 'MODEL_HTTP', status: 500 },
  ],
  ['a detail in place of a chunk', [{ detail: 'Internal error' }, done], { code: 'MODEL_HTTP' }],
  ['[DONE] before anything came', [delta({ role: 'assistant', content: '' }), done], { code: 'MODEL_STREAM_CUT' }],
  ['[DONE] while it thought', [delta({ reasoning_content: 'hm' }), done], { code: 'MODEL_STREAM_CUT' }],
  [
    'a call in the old form',
    [delta({ function_call: { name: 'read', arguments: '{}' } }), delta({}, 'function_call'), done],
    { code: 'MODEL_BAD_REPLY', message: expect.stringContaining('function_call') },
  ],
  ['a content filter', [delta({ content: 'hi' }), delta({}, 'content_filter')], { code: 'MODEL_REFUSED' }],
  ['an abort of the provider’s own', [delta({ content: 'hi' }), delta({}, 'abort')], { code: 'MODEL_BAD_REPLY' }],
  ['an end before the end', [delta({ content: 'hi' })], { code: 'MODEL_STREAM_CUT' }],
  [
    'an end inside a call',
    [call({ index: 0, id: 'a' }, 'read', args('1'))],
    { code: 'MODEL_STREAM_CUT', message: 'the stream ended inside the arguments of "read"' },
  ],
  ['a call without a name', [call({ index: 0, id: 'a' }, undefined, '{}'), ...ends], { code: 'MODEL_BAD_REPLY' }],
  ['nothing', [], { code: 'MODEL_STREAM_CUT' }],
])('%s is a failure, and never a throw', async (_, chunks, failure) => {
  await using server = await scripted(stream(chunks));
  const reply = await server.ask();
  expect(reply.failure).toMatchObject(failure);
  expect(reply.message.stopReason).toBe('error');
  expect(calls(reply)).toEqual([]);
});

test.each<[string, string, string, object | undefined]>([
  [
    'a whole answer in place of a stream',
    'application/json',
    '{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}',
    undefined,
  ],
  [
    'a stream by another name',
    'text/plain',
    'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    undefined,
  ],
  ['an error with status 200', 'application/json', '{"error":{"message":"no"}}', { code: 'MODEL_HTTP' }],
  ['a web page', 'text/html', '<html>hello</html>', { code: 'MODEL_BAD_REPLY', message: '"text/html" in place of an event stream' }],
  ['other JSON', 'application/json', '{"ok":true}', { code: 'MODEL_BAD_REPLY' }],
])('%s is understood', async (_, type, body, failure) => {
  await using server = await scripted((_request, response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  });
  const reply = await server.ask();
  if (failure) expect(reply.failure).toMatchObject(failure);
  else expect(reply.message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'hi' }] });
});

test('the head of a large error body is kept', async () => {
  await using server = await scripted((_request, response) => {
    response.writeHead(500).end('x'.repeat(1_000_000));
  });
  const { failure } = await server.ask();
  expect(failure).toMatchObject({ code: 'MODEL_HTTP', status: 500 });
  expect(failure!.body).toHaveLength(4096);
});
