import { join } from 'node:path';
import { expect, test } from 'vitest';
import { turnView } from '../../../plugins/cli/view.ts';

interface ChatLog {
  apply(event: object): void;
  readonly rows: readonly object[];
}
const page = join(import.meta.dirname, '../../../plugins/web/page/chat-log.js');
const { createChatLog } = (await import(page)) as { readonly createChatLog: (changed: () => void) => ChatLog };

const ends = [
  [
    { trigger: 'budget', tokensBefore: 14_081, tokensAfter: 4_304, messages: 8 },
    /^8 messages are a summary.* 14,?081 tokens became 4,?304/,
  ],
  [{ trigger: 'budget', tokensBefore: 14_081, tokensAfter: 9_000, messages: 0 }, /^long tool results were shortened/i],
  [
    { trigger: 'overflow', tokensBefore: 9, tokensAfter: 9, messages: 0, error: 'the conversation could not be summarised: no' },
    /summarised: no$/,
  ],
] as const;

test.each(ends)('SPEC 6.1: the page and the terminal show what came of a compaction: %j', (end, due) => {
  const log = createChatLog(() => {});
  log.apply({ cursor: 'b.1', type: 'auto_compaction_start', data: { trigger: end.trigger } });
  log.apply({ cursor: 'b.2', type: 'auto_compaction_end', data: end });
  expect(log.rows).toEqual([
    expect.objectContaining({ kind: 'note', text: expect.stringContaining('making room') }),
    expect.objectContaining({ kind: 'note', text: expect.stringMatching(due) }),
  ]);
  let out = '';
  const view = turnView((text) => (out += text));
  view.auto_compaction_start?.({ trigger: end.trigger, tokensBefore: end.tokensBefore });
  view.auto_compaction_end?.(end);
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
  expect(lines).toEqual([expect.stringContaining('making room'), expect.stringMatching(due)]);
});
