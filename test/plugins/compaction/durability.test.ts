import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTranscript } from '../../../plugins/sessions/transcript.ts';
import { assistant, result, said, user } from './histories.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const open = (file: string) => openTranscript({ file, sessionId: 's', workspace: '/', log });

test('a process that ends within the record, at whatever byte, leaves the conversation whole or compacted', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'instar-compaction-'));
  const file = join(folder.path, 's.jsonl');
  const one = open(file);
  const ids: string[] = [];
  for (const message of [
    user('a'),
    assistant([{ type: 'toolCall', id: 'c', name: 'read', arguments: {} }]),
    result('c', 'r'),
    said('b'),
    user('d'),
  ]) {
    ids.push((await one.append(message)).id);
  }
  const [whole, before] = [await one.history(), (await readFile(file)).length];
  await one.compact({ summary: 'über alles', firstKeptEntryId: ids[4] as string, tokensBefore: 9 });
  const compacted = await one.history();
  expect(compacted.map(({ content }) => content)).toEqual([expect.stringContaining('über alles'), 'd']);
  const bytes = await readFile(file);
  for (let end = before; end <= bytes.length; end++) {
    const cut = join(folder.path, `${end}.jsonl`);
    await writeFile(cut, bytes.subarray(0, end));
    const again = open(cut);
    // Without its line end the record is complete already.
    expect(await again.history()).toEqual(end < bytes.length - 1 ? whole : compacted);
    expect(again.entries).toHaveLength(5);
  }
});

test('what is appended after a compaction hangs on its record, and a call that was open stays answered', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'instar-compaction-'));
  const file = join(folder.path, 's.jsonl');
  const one = open(file);
  await one.append(user('a'));
  await one.append(said('b'));
  const { id } = await one.append(user('c'));
  await one.append(assistant([{ type: 'toolCall', id: 'x', name: 'read', arguments: {} }]));
  // Between a call and its result, as a command may come.
  const record = await one.compact({ summary: 'S', firstKeptEntryId: id, tokensBefore: 9 });
  expect((await one.append(result('x', 'r'))).parentId).toBe(record.id);
  const history = await one.history();
  expect(history.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'toolResult']);
  expect(await open(file).history()).toEqual(history);
});
