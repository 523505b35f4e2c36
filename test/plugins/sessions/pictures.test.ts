import { expect, test } from 'vitest';
import { imagesOf } from '../../../plugins/chat/params.ts';
import { readMessages } from '../../../plugins/openai-http/messages.ts';
import { faultOfPicture } from '../../../plugins/sessions/contract.ts';
import { soundContent } from '../../../plugins/sessions/contract/content.ts';

const base64 = (head: string) => Buffer.from(`${head}${'x'.repeat(40)}`, 'latin1').toString('base64');
const heads = {
  'image/png': ['\x89PNG\r\n\x1a\n'],
  'image/jpeg': ['\xff\xd8\xff\xe0', '\xff\xd8\xff\xdb'],
  'image/gif': ['GIF87a', 'GIF89a'],
  'image/webp': ['RIFF\x00\x01\n\x00WEBPVP8 '],
};
const types = Object.keys(heads) as (keyof typeof heads)[];

test.each(types.flatMap((type) => types.flatMap((of) => heads[of].map((head) => [type, of, head] as const))))(
  'bytes declared as %s are shown to models where they are %s only if that is the same',
  (type, of, head) => {
    if (type === of) expect(faultOfPicture(base64(head), type)).toBeUndefined();
    else expect(faultOfPicture(base64(head), type)).toContain(`its bytes are not those of ${type}`);
  },
);

const wrong: readonly [string, string, string][] = [
  ['bytes that are no picture', Buffer.from('not a picture at all').toString('base64'), 'image/png'],
  ['the start of a picture alone', Buffer.from('RIFF').toString('base64'), 'image/webp'],
  ['a picture of another kind', base64('\xff\xd8\xff\xe0'), 'image/png'],
];

test.each(wrong)('%s is refused at each door, and gives way to a note before a model is asked', (_, data, mimeType) => {
  const fault = 'an image that cannot be read: its bytes are not those of';
  expect(() => imagesOf({ images: [{ data, mimeType }] })).toThrow(`"images"[0] is ${fault}`);
  const part = { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
  expect(() => readMessages([{ role: 'user', content: [part] }], 8)).toThrow(`messages[0].content[0] is ${fault}`);
  // Of a tool, of an MCP server, or in a transcript of before.
  expect(soundContent([{ type: 'image', data, mimeType }])).toEqual([{ type: 'text', text: expect.stringContaining(`(${fault}`) }]);
});
