import { expect, test } from 'vitest';
import { scrubbed } from '../../../plugins/tools-exec/environment.ts';

const secret = [
  'http://user:hunter2@proxy',
  'socks5://user:hunter2@proxy:1080',
  'user:hunter2@proxy:3128',
  'https://hunter2@proxy/',
  ':hunter2@proxy',
];
test.each(secret)('S15: the proxy %s is in no environment of a command', (value) => {
  const env = scrubbed({ HTTPS_PROXY: value, http_proxy: value, NO_PROXY: value });
  expect(env).toEqual({ PATH: expect.any(String) });
});

test.each(['http://proxy:3128', 'socks5h://[::1]:1080', 'proxy:3128', 'localhost,*.lan,10.0.0.0/8'])('the proxy %s is', (value) => {
  expect(scrubbed({ HTTPS_PROXY: value })).toMatchObject({ HTTPS_PROXY: value });
});
