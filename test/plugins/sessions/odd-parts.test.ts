import { expect, test } from 'vitest';
import type { Content } from '../../../kernel/index.ts';
import { soundMessage } from '../../../plugins/sessions/contract/content.ts';

test.each([null, undefined, 5, 'text', {}, { type: 7 }, []])(
  'of a stored result a part that is %j gives way to a note; the rest stays',
  (part) => {
    const text = { type: 'text', text: 'a' } as const;
    const content = [part, text] as readonly Content[];
    const message = { role: 'toolResult', toolCallId: 'c', toolName: 't', isError: false, timestamp: 0, content } as const;
    const note = { type: 'text', text: expect.stringContaining('which cannot be shown') };
    expect(soundMessage(message)).toEqual({ ...message, content: [note, text] });
  },
);
