import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from '../../../plugins/mcp/backoff.ts';
import { lineReader } from '../../../plugins/mcp/line-reader.ts';
import { resultOf } from '../../../plugins/mcp/result.ts';
import { namesIn, toolName } from '../../../plugins/mcp/tool-name.ts';
import { said } from './said.ts';

test('any tool of any server gets a name that providers take, and no two the same', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 200 }), { maxLength: 8 }), (tools) => {
      const names = [...new Set(tools)].map((tool) => toolName('server', tool));
      for (const name of names) expect(name).toMatch(/^mcp__server__[A-Za-z0-9_-]{0,51}$/);
      expect(new Set(names).size).toBe(names.length);
    }),
  );
  expect(toolName('git-hub', 'create_issue')).toBe('mcp__git-hub__create_issue');
});

test('the list of what runs unasked takes whole names and wildcards, and nothing else', () => {
  const has = namesIn(['read_*', 'a.b']);
  expect(['read_file', 'read_', 'a.b', 'xread_file', 'axb', 'write'].map(has)).toEqual([true, true, true, false, false, false]);
  expect(namesIn([])('anything')).toBe(false);
});

test('attempts come after 1 s, doubling to a minute', () => {
  expect([1, 2, 3, 6, 7, 100].map((attempt) => backoffMs(attempt, () => 0))).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000]);
  expect(backoffMs(1, () => 0.999)).toBeGreaterThan(790);
});

type Answer = Parameters<typeof resultOf>[1];
const wordsOf = (answer: Answer, takesImages = true) => said(resultOf('crm', answer, takesImages));
const text = (words: string) => ({ type: 'text', text: words }) as const;
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
const shown: readonly (readonly [what: string, answer: Answer, words: string])[] = [
  ['nothing', { content: [] }, '[no content]'],
  ['structure alone', { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
  [
    'text in parts, capped together',
    { content: [text('a'.repeat(30_000)), text('b'.repeat(30_000))] },
    `${'a'.repeat(30_000)}\n${'b'.repeat(20_000)}\n[cut: 10000 more characters; ask for less at once]`,
  ],
  ['sound', { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] }, '[audio, audio/wav, 3 bytes: it cannot be shown]'],
  ['a link', { content: [{ type: 'resource_link', name: 'n', uri: 'x://y' }] }, '[n: x://y]'],
  ['a text resource', { content: [{ type: 'resource', resource: { uri: 'x://y', text: 'words' } }] }, '[x://y]\nwords'],
  [
    'a binary resource',
    { content: [{ type: 'resource', resource: { uri: 'x://y', blob: 'AA==', mimeType: 'a/b' } }] },
    '[x://y: a/b, 1 bytes: it cannot be shown]',
  ],
  [
    'images, no more than four',
    { content: [image, image, image, image, image] },
    '<image/png>\n<image/png>\n<image/png>\n<image/png>\n[image/png, 3 bytes; more than 4 images in one result]',
  ],
  [
    'an image of another kind',
    { content: [{ ...image, mimeType: 'image/svg+xml' }] },
    '[image/svg+xml, 3 bytes; models take png, jpeg, gif and webp]',
  ],
];
test.each(shown)('SPEC 2.2: of a server’s answer %s is shown', (_, answer, words) => expect(wordsOf(answer)).toBe(words));

test('a model that sees no images is told of them', () => {
  expect(wordsOf({ content: [image] }, false)).toBe('[image/png, 3 bytes; the model in use takes no images]');
});

test('lines come whole, however they were cut on the way, and one that never ends is given up', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-zé日]{0,8}$/)),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
      (lines, cuts) => {
        const [bytes, got] = [Buffer.from(lines.map((line) => `${line}\n`).join('')), [] as string[]];
        const read = lineReader(
          100,
          (line) => got.push(line),
          () => expect.unreachable(),
        );
        for (let at = 0, i = 0; at < bytes.length; at += cuts[i++ % cuts.length] ?? 1)
          read(bytes.subarray(at, at + (cuts[i % cuts.length] ?? 1)));
        expect(got).toEqual(lines);
      },
    ),
  );
  let given = 0;
  const read = lineReader(
    10,
    () => expect.unreachable(),
    () => given++,
  );
  for (let i = 0; i < 3; i++) read(Buffer.from('12345'));
  expect(given).toBe(1);
});
