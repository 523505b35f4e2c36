import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { logOf, type LogRecord } from '../../../kernel/log.ts';
import { type AssistantMessage, beginsTurn, type Message } from '../../../plugins/sessions/contract.ts';
import { validHistory } from '../../../plugins/sessions/repair.ts';
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

test('SPEC 12.1: what joined a turn is known to be part of it, also when the file is read again', async () => {
  await using f = await folder();
  const transcript = f.open();
  await transcript.append(user('a'), { itemId: 'i' });
  await transcript.append(user('b'), { itemId: 'j', joins: 'i' });
  await transcript.append(user('c'), { itemId: 'k' });
  for (const one of [transcript, f.open()]) {
    const history = await one.history();
    expect(history.map((_, i) => beginsTurn(history, i))).toEqual([true, false, true]);
  }
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

/** Lines of a file, parsed. */
const linesOf = async (file: string) =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a crash within the very first line leaves a file that begins with its header', async () => {
  await using f = await folder();
  await writeFile(f.file, '{"type":"session","versi');
  await f.open().append(user('a'));
  expect((await linesOf(f.file)).map(({ type }) => type)).toEqual(['session', 'message']);
});

test('a line that is torn within a character is cut off to the byte', async () => {
  await using f = await folder();
  await f.open().append(user('whole'));
  const before = await readFile(f.file);
  await appendFile(f.file, Buffer.concat([Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from('{"text":"ä').subarray(0, -1)])); // and what is no text
  await f.open().append(user('next'));
  const now = await readFile(f.file);
  expect(now.subarray(0, before.length + 3)).toEqual(Buffer.concat([before, Buffer.from([0xff, 0xfe, 0x0a])]));
  expect(f.open().entries.map((e) => e.message)).toEqual([user('whole'), user('next')]);
});

test('ids are unique in a transcript, also where one was announced that is taken', async () => {
  await using f = await folder();
  const transcript = f.open();
  const first = await transcript.append(user('a'), { id: 'same' });
  const second = await transcript.append(user('b'), { id: 'same' });
  expect(first.id).toBe('same');
  expect(second).toMatchObject({ parentId: 'same', id: expect.stringMatching(/^[0-9a-f]{8}$/) });
  expect((await f.open().append(user('c'), { id: second.id })).id).not.toBe(second.id);
});

/** As the described system writes them: more kinds of records, more fields, an abandoned branch, a shell command. */
const foreign = [
  { type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/elsewhere', parentSession: 'x' },
  { type: 'model_change', id: 'a1', parentId: null, timestamp: 't', provider: 'p', modelId: 'm' },
  { type: 'message', id: 'a2', parentId: 'a1', timestamp: 't', message: { ...user('asked'), more: 1 }, extra: true },
  { type: 'message', id: 'a3', parentId: 'a2', timestamp: 't', message: user('abandoned') },
  { type: 'message', id: 'a4', parentId: 'a2', timestamp: 't', message: user('instead') },
  { type: 'message', id: 'a5', parentId: 'a4', timestamp: 't', message: { role: 'bashExecution', command: 'ls', timestamp: 1 } },
  { type: 'message', id: 'a6', parentId: 'a5', timestamp: 't' },
  { type: 'compaction', id: 'a7', parentId: 'a6', timestamp: 't', summary: '…', firstKeptEntryId: 'a2', tokensBefore: 9 },
];

test('SPEC 12.1: a file of the described system is read along its branch and continued behind its last record', async () => {
  await using f = await folder();
  const text = foreign.map((record) => `${JSON.stringify(record)}\n`).join('');
  await writeFile(f.file, text);
  const transcript = f.open();
  expect(transcript.entries).toEqual([foreign[2], foreign[4]]);
  const shown = await transcript.history(); // the summary, what it kept, and what was run in the terminal
  expect(shown.map((message) => message.content)).toEqual([
    expect.stringContaining('…'),
    'asked',
    'instead',
    expect.stringContaining('ls'),
  ]);
  await transcript.append(user('ours'));
  expect(await readFile(f.file, 'utf8')).toContain(text); // what was there is untouched
  expect((await linesOf(f.file)).at(-1)).toMatchObject({ parentId: 'a7', message: user('ours') });
  expect(f.open().entries.map((e) => e.message)).toEqual([{ ...user('asked'), more: 1 }, user('instead'), user('ours')]);
});

test('the oldest files, whose records have neither id nor parent, are read line by line and continued', async () => {
  await using f = await folder();
  const records = [{ type: 'session', id: 's' }, ...['a', 'b'].map((said) => ({ type: 'message', timestamp: 't', message: user(said) }))];
  await writeFile(f.file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await f.open().append(user('c'));
  expect(f.open().entries.map((e) => e.message)).toEqual([user('a'), user('b'), user('c')]);
});

test('a broken line does not cut off what was said before it', async () => {
  await using f = await folder();
  const transcript = f.open();
  for (const said of ['a', 'b', 'c']) await transcript.append(user(said));
  const lines = (await readFile(f.file, 'utf8')).split('\n');
  await writeFile(f.file, lines.with(2, 'no json').join('\n'));
  expect(f.open().entries.map((e) => e.message)).toEqual([user('a'), user('c')]);
});

test('what a full disk left of a line does not swallow the next one', async () => {
  await using f = await folder();
  const script = join(import.meta.dirname, '../../support/small-disk.ts');
  // The limit stands for the disk: 512 bytes a block, and one write that goes over it.
  const { stdout } = await promisify(execFile)('sh', ['-c', `ulimit -f 8 && exec "$0" "$1" "$2"`, process.execPath, script, f.file]);
  expect(stdout.trim()).toBe('TRANSCRIPT_UNWRITABLE');
  expect((await linesOf(f.file)).map(({ message }) => (message as Message | undefined)?.content)).toEqual([undefined, 'small', 'after']);
});

test('a turn that still runs does not bring back a transcript that was removed', async () => {
  await using f = await folder();
  const transcript = f.open();
  await transcript.append(user('a'));
  await writeFile(`${f.file}.torn`, 'x');
  transcript.remove();
  await transcript.append(user('b'));
  expect(await readdir(join(f.file, '..'))).toEqual([]);
  expect(await transcript.history()).toEqual([user('a'), user('b')]);
});

test('history that grows turn by turn is the same as history read at once', async () => {
  await using f = await folder();
  const transcript = f.open();
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  const reply = (content: AssistantMessage['content'], stopReason: AssistantMessage['stopReason']): Message => ({
    role: 'assistant',
    api: 'x',
    provider: 'p',
    model: 'm',
    usage,
    timestamp: 1,
    content,
    stopReason,
  });
  const call = { type: 'toolCall' as const, id: 'c', name: 'read', arguments: {} };
  const pile = [
    user('1'),
    reply([call], 'toolUse'),
    user('2'),
    reply([], 'error'),
    user('3'),
    reply([{ type: 'text', text: 't' }, call], 'aborted'),
    user('4'),
  ];
  for (const message of pile) {
    if (message.role === 'user') await transcript.history();
    await transcript.append(message);
    const grown = await transcript.history();
    expect(grown).toEqual(validHistory(transcript.entries.map((entry) => entry.message)));
  }
});
