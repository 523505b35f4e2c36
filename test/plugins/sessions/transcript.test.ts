import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { logOf, type LogRecord } from '../../../kernel/log.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import { openTranscript, transcriptCache } from '../../../plugins/sessions/transcript.ts';

const user = (text: string): Message => ({ role: 'user', content: text, timestamp: 1 });

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'instar-transcript-'));
  const records: LogRecord[] = [];
  const open = () => openTranscript({ file: join(path, 's.jsonl'), sessionId: 's', workspace: '/ws', log: logOf((r) => records.push(r)) });
  return { file: join(path, 's.jsonl'), records, open, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

test('SPEC 12.1: lines are appended under a session header, chained by parent', async () => {
  await using f = await folder();
  const transcript = f.open();
  const first = await transcript.append(user('a'), { itemId: 'i' });
  await transcript.append(user('b'));
  const lines = (await readFile(f.file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { type: 'session', version: 3, id: 's', cwd: '/ws' },
    { type: 'message', parentId: null, itemId: 'i', message: { role: 'user', content: 'a' } },
    { type: 'message', parentId: first.id, message: { content: 'b' } },
  ]);
});

test('SPEC 12.2: a torn last line loses only itself, is kept aside and reported', async () => {
  await using f = await folder();
  await f.open().append(user('whole'));
  await appendFile(f.file, '{"type":"message","id":"x","mess');
  const again = f.open();
  expect(again.entries.map((e) => e.message)).toEqual([user('whole')]);
  expect(f.records).toMatchObject([{ level: 'warn', message: expect.stringContaining('cut off by a crash') }]);
  expect(await readFile(`${f.file}.torn`, 'utf8')).toContain('"id":"x"');
  await again.append(user('next'));
  expect(f.open().entries).toHaveLength(2);
});

test('a last line that lacks only its end is kept', async () => {
  await using f = await folder();
  await f.open().append(user('a'));
  await writeFile(f.file, (await readFile(f.file, 'utf8')).trimEnd());
  const again = f.open();
  await again.append(user('b'));
  expect(f.open().entries.map((e) => e.message)).toEqual([user('a'), user('b')]);
});

test('records of other kinds and broken lines in the middle do not stop the reading', async () => {
  await using f = await folder();
  await f.open().append(user('a'));
  await appendFile(f.file, '{"type":"compaction","id":"c"}\nnot json\n');
  await f.open().append(user('b'));
  expect(f.open().entries).toHaveLength(2);
});

test('calls that a crash left open are closed in the file before the next request', async () => {
  await using f = await folder();
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  await f.open().append({
    role: 'assistant',
    api: 'x',
    provider: 'p',
    model: 'm',
    usage,
    stopReason: 'toolUse',
    timestamp: 1,
    content: [
      {
        type: 'toolCall',
        id: 'c1',
        name: 'exec',
        arguments: {},
      },
    ],
  });
  const history = await f.open().history();
  expect(history.at(-1)).toMatchObject({ role: 'toolResult', toolCallId: 'c1', isError: true });
  expect(f.open().entries).toHaveLength(2);
});

test('an open transcript is one object, however often it is asked for', () => {
  const cache = transcriptCache(2);
  const make = (id: string) => () => ({ sessionId: id }) as never;
  const a = cache.get('a', make('a'));
  for (const id of ['b', 'c', 'd']) cache.get(id, make(id));
  expect(cache.get('a', make('a'))).toBe(a);
});
