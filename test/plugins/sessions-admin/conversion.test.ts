import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { convert } from '../../../plugins/sessions-admin/import/conversion.ts';
import { linesOf } from '../../../plugins/sessions-admin/import/lines.ts';

async function file() {
  const dir = await mkdtemp(join(tmpdir(), 'instar-conversion-'));
  return { path: join(dir, 's.jsonl'), [Symbol.asyncDispose]: () => rm(dir, { recursive: true }) };
}

const converted = async (path: string, longest?: number) => {
  const { lines, notes } = convert(path, 's', longest);
  return { text: Buffer.concat(await Array.fromAsync(lines)).toString(), notes };
};

const ids = fc.constantFrom('a', 'b', 'c', 'd', '00000002');
const record = fc.record(
  {
    type: fc.constantFrom('message', 'compaction', 'label', 'hologram', 'session'),
    id: fc.oneof(ids, fc.constant(7)),
    parentId: fc.oneof(ids, fc.constant(null), fc.constant(3)),
    version: fc.constantFrom(1, 2, 3, 'x'),
    firstKeptEntryId: ids,
    firstKeptEntryIndex: fc.nat(9),
    summary: fc.string(),
    message: fc.oneof(fc.anything(), fc.record({ role: fc.constantFrom('user', 'hookMessage'), content: fc.string() })),
  },
  { requiredKeys: ['type'] },
);
const line = fc.oneof({ weight: 4, arbitrary: record.map((one) => JSON.stringify(one)) }, fc.json(), fc.string());

test('whatever the lines of a file are: what comes of it is whole, chained, and comes to the same once more', async () => {
  await using f = await file();
  const property = fc.asyncProperty(fc.array(line), fc.constantFrom('\n', '\r\n'), async (lines, end) => {
    await writeFile(f.path, lines.join(end));
    const { text } = await converted(f.path);
    const records = text
      .split('\n')
      .slice(0, -1)
      .map((one) => JSON.parse(one) as Record<string, unknown>);
    const seen = new Set<unknown>([null]);
    for (const [i, { type, id, parentId }] of records.entries()) {
      expect(type === 'session').toBe(i === 0);
      if (i === 0) continue;
      expect(seen.has(id)).toBe(false);
      expect(seen.has(parentId)).toBe(true);
      seen.add(id);
    }
    await writeFile(f.path, text);
    expect((await converted(f.path)).text).toBe(text);
  });
  await fc.assert(property, { numRuns: 100 });
});

test('lines are the same whatever their length and where the chunks of a file end', async () => {
  await using f = await file();
  const lengths = fc.array(fc.oneof(fc.nat(20), fc.integer({ min: 262_100, max: 262_200 })), { maxLength: 6 });
  const property = fc.asyncProperty(lengths, fc.boolean(), async (all, isEnded) => {
    const lines = all.map((length, i) => String(i).repeat(length));
    await writeFile(f.path, lines.join('\n') + (isEnded ? '\n' : ''));
    const read = await Array.fromAsync(linesOf(f.path), ({ bytes }) => bytes.toString());
    const due = lines.join('\n').split('\n');
    expect(read.join('\n').replace(/\n+$/, '')).toBe(due.join('\n').replace(/\n+$/, ''));
  });
  await fc.assert(property, { numRuns: 10 });
});

test('a line beyond the limit is skipped with its number and size, and what follows hangs on the line before it', async () => {
  await using f = await file();
  const message = (id: string, parentId: string | null, content: string) =>
    `${JSON.stringify({ type: 'message', id, parentId, message: { role: 'user', content } })}\n`;
  const header = `${JSON.stringify({ type: 'session', version: 3, id: 's' })}\n`;
  await writeFile(f.path, header + message('a', null, 'x') + message('b', 'a', 'y'.repeat(300_000)) + message('c', 'b', 'z'));
  const { text, notes } = await converted(f.path, 100_000);
  expect(notes.notes).toEqual([
    { line: 3, text: expect.stringMatching(/^skipped: it has 3000\d\d bytes, more than 100000$/) },
    { line: 4, text: 'its parent "b" is not before it; the record before it is now' },
  ]);
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((one) => (JSON.parse(one) as { parentId?: string }).parentId),
  ).toEqual([undefined, null, 'a']);
});

test('of a file that is broken throughout, the first notes are kept and the rest counted', async () => {
  await using f = await file();
  await writeFile(f.path, 'no json\n'.repeat(50));
  const { text, notes } = await converted(f.path);
  expect([text, notes.notes.length, notes.moreNotes]).toEqual(['', 20, 30]);
});
