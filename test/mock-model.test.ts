import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directiveIn } from './support/mock-model/directive.ts';
import { startMock } from './support/mock-model.ts';

test.each<[string, object | undefined]>([
  ['hello', undefined],
  ['[[nothing:1]] [[', undefined],
  ['[[tool:read]]', { kind: 'tool', count: 1, name: 'read', args: {} }],
  ['do [[tool:read {"a":"]]","b":{"c":[[1]]}}]] now', { kind: 'tool', name: 'read', args: { a: ']]', b: { c: [[1]] } } }],
  ['[[tools:3 exec {"n":"$i"}]]', { kind: 'tools', count: 3, name: 'exec', args: { n: '$i' } }],
  ['[[par:2 exec {}]]', { kind: 'par', count: 2 }],
  ['[[tool:read {broken]] [[reply:a b]]', { kind: 'reply', value: 'a b' }],
  ['[[status:503 times=2]]', { kind: 'status', value: '503', times: 2 }],
  ['[[drop]]', { kind: 'drop', times: Infinity }],
  ['[[chunks:9 every=5]]', { kind: 'chunks', value: '9', everyMs: 5 }],
])('%j means %o', (text, expected) => {
  const directive = directiveIn(text);
  if (expected) expect(directive).toMatchObject(expected);
  else expect(directive).toBeUndefined();
});

const say = (url: string, content: string, more: object = {}) => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more });
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
};

test('a fault is given as often as was asked for, and then a reply', async () => {
  await using mock = await startMock();
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await say(mock.url, '[[status:503 times=2]]')).status);
  expect(statuses).toEqual([503, 503, 200]);
});

test('an answer that is not streamed is whole', async () => {
  await using mock = await startMock();
  const reply = (await (await say(mock.url, 'MARK-a hello')).json()) as { choices: { message: { content: string } }[] };
  expect(reply.choices[0]!.message.content).toBe('echo: MARK-a MARK-a hello');
  expect(mock.requests[0]).toMatchObject({ api: 'openai-completions', asked: { texts: ['MARK-a hello'], messages: 1 } });
});

test('it runs as a process, tells where, and what it saw', async () => {
  const file = join(import.meta.dirname, 'support/mock-model.ts');
  const child = spawn(process.execPath, [file, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = /http:\S+/.exec(String(line))![0];
  await say(url, 'hello');
  const seen = (await (await fetch(`${url}/__requests?since=0`)).json()) as { requests: { number: number; body?: unknown }[] };
  expect(seen.requests).toMatchObject([{ number: 1 }]);
  expect(seen.requests[0]!.body).toBeUndefined();
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
