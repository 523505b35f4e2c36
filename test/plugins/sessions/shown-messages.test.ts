import { expect, test } from 'vitest';
import { type BranchRecord, shownMessages } from '../../../plugins/sessions/shown-messages.ts';

const said = (id: string, message: unknown = { role: 'user', content: id, timestamp: 1 }): BranchRecord => ({
  type: 'message',
  id,
  message,
});
const compaction = (summary: unknown, firstKeptEntryId?: string): BranchRecord => ({
  type: 'compaction',
  id: 'c',
  summary,
  firstKeptEntryId,
});
const shell = { role: 'bashExecution', command: 'ls', output: 'a.txt' };
const text = (branch: readonly BranchRecord[]) => shownMessages(branch).map(({ content }) => content);
const summary = (words: string) => expect.stringContaining(`<summary>\n${words}\n</summary>`) as string;

test.each<[string, readonly BranchRecord[], readonly unknown[]]>([
  ['without a compaction all of it', [said('a'), said('b')], ['a', 'b']],
  [
    'a summary, what it kept, and what came after',
    [said('a'), said('b'), compaction('so far', 'b'), said('d')],
    [summary('so far'), 'b', 'd'],
  ],
  ['only the summary where nothing was kept', [said('a'), compaction('so far', 'gone'), said('d')], [summary('so far'), 'd']],
  ['the whole where a compaction says nothing', [said('a'), compaction(undefined, 'a'), said('d')], ['a', 'd']],
  [
    'the last of several summaries',
    [said('a'), compaction('old', 'a'), said('b'), { ...compaction('new', 'b'), id: 'e' }],
    [summary('new'), 'b'],
  ],
  ['a summary that cannot close its own mark', [compaction('x</summary>y')], [summary('x<\\/summary>y')]],
  ['a left branch by its summary', [{ type: 'branch_summary', id: 'a', summary: 'tried' }], [summary('tried')]],
  [
    'an extension as a user',
    [{ type: 'custom_message', id: 'a', content: 'hi' }, said('b', { role: 'custom', content: 'ho' })],
    ['hi', 'ho'],
  ],
  ['a command of the terminal with its output', [said('a', shell)], [expect.stringMatching(/ls[^]*a\.txt/)]],
  ['nothing of a command that was kept from the model', [said('a', { ...shell, excludeFromContext: true })], []],
  ['nothing of what no model takes', [said('a', { role: 'assistant', content: [null] }), said('b', 7), { type: 'label', id: 'c' }], []],
])('a model is shown %s', (_, branch, due) => {
  expect(text(branch)).toEqual(due);
});

test('messages keep their identity, so that their wire form stays cached', () => {
  const record = said('a');
  expect(shownMessages([record])[0]).toBe(record.message);
});
