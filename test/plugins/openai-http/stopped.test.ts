import { expect, test } from 'vitest';
import { outcomeOf } from '../../../plugins/openai-http/completion.ts';

const delivery = (payloads: readonly { readonly text: string }[], meta: object) => ({
  id: 'd',
  route: 'http:1',
  sessionKey: 's',
  itemId: 'i',
  attempt: 0,
  payloads,
  meta: { ...meta },
});

test.each([
  ['half an answer', [{ text: 'half' }], 'in mid-answer'],
  ['nothing', [], 'before it answered'],
])('a turn that was stopped after %s is an error, never an answer that looks whole', (_, payloads, how) => {
  expect(outcomeOf(delivery(payloads, { stopReason: 'aborted' }))).toEqual({
    error: {
      status: 503,
      body: { error: { message: `the turn was stopped ${how}`, type: 'server_error', code: 'turn_stopped', param: null } },
    },
  });
});
