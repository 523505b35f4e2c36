import { expect, test } from 'vitest';
import { openListening } from '../../../plugins/mcp/listening.ts';

const streamOf = (...parts: readonly string[]) =>
  new Response(ReadableStream.from(parts.map((part) => new TextEncoder().encode(part))), {
    headers: { 'content-type': 'text/event-stream' },
  });
/** Begins a stream and reads it to its end. */
async function listened(listening: ReturnType<typeof openListening>, after: string | null, ...parts: readonly string[]) {
  const stream = listening.begin(after);
  if (stream === 'refused') throw new Error('refused');
  expect(await stream.heard(streamOf(...parts)).text()).toBe(parts.join(''));
  stream.end();
}

test('S18: only the stream on which a server speaks unasked goes on where it ended, one at a time', async () => {
  const listening = openListening();
  expect(listening.begin('of-a-call')).toBe('refused');
  await listened(listening, null, 'id: 1\ndata: {}\n\ni', 'd: 2\r', '\ndata: x\r\n\r\n');
  expect(listening.begin('of-a-call')).toBe('refused');
  expect(listening.begin('1')).toBe('refused');
  await listened(listening, '2', `data: ${'x'.repeat(5000)}\n\n`, 'id:3\n\n');
  expect(listening.begin('3')).not.toBe('refused');
  // The same name for another stream opens no second one.
  expect(listening.begin('3')).toBe('refused');
  expect(listening.begin(null)).toBe('refused');
});
