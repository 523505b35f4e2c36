import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openLog } from '../../../plugins/cli/log-file.ts';
import { folder } from '../../host/folder.ts';

const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('U251: every record is one line of JSON, whatever is in it', async () => {
  await using home = await folder();
  const { sink, flush } = openLog(home.at('logs'));
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  sink({ level: 'info', message: 'two\nlines "quoted"', plugin: 'x', big: 1n, long: 'y'.repeat(20_000) });
  sink({ level: 'error', message: 'it failed', error: Object.assign(new Error('why', { cause: new Error('deeper') }), { code: 'E_X' }) });
  sink({ level: 'warn', message: 'a circle', circle });
  flush();
  const [first, second, third, ...none] = lines(home.at('logs/instar.log'));
  expect(none).toEqual([]);
  expect(first).toMatchObject({ level: 'info', message: 'two\nlines "quoted"', plugin: 'x', big: '1' });
  expect(String(first?.long)).toHaveLength(10_001);
  expect(second?.error).toMatchObject({ code: 'E_X', message: 'why', stack: expect.any(String), cause: { message: 'deeper' } });
  expect(third).toMatchObject({ level: 'warn', message: 'a circle' });
  expect(Date.parse(String(first?.time))).toBeGreaterThan(0);
});

test('the log is rotated by size, and keeps so many files and no more', async () => {
  await using home = await folder();
  const { sink, flush } = openLog(home.at('logs'), { maxBytes: 300, files: 3 });
  for (let n = 1; n <= 12; n++) {
    sink({ level: 'info', message: `record ${n} ${'x'.repeat(100)}` });
    flush();
  }
  expect(readdirSync(home.at('logs')).toSorted()).toEqual(['instar.1.log', 'instar.2.log', 'instar.log']);
  const newest = ['instar.2.log', 'instar.1.log', 'instar.log'].flatMap((name) => lines(home.at(`logs/${name}`)));
  const numbers = newest.map(({ message }) => Number(String(message).split(' ')[1]));
  expect(numbers.at(-1)).toBe(12);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
});

test('secrets are written nowhere: of the environment, of the config, in headers, of known forms', async () => {
  await using home = await folder();
  const shown: string[] = [];
  const { sink, hide, flush } = openLog(home.at('logs'), { show: (line) => shown.push(line) });
  hide({ MY_API_KEY: 'envsecret"1', HOME: '/root/home', SHORT_TOKEN: 'off' });
  hide({ models: { providers: { p: { apiKey: 'confsecret1' } } }, gateway: { auth: { token: 'gatesecret1' } } });
  const message = 'envsecret"1 confsecret1 gatesecret1 Bearer abcdefghijkl sk-abcdefghijkl http://x/#token=abcd1234 /root/home off';
  sink({ level: 'error', message, error: new Error(message), nested: { message } });
  flush();
  const text = readFileSync(home.at('logs/instar.log'), 'utf8');
  for (const secret of ['envsecret', 'confsecret', 'gatesecret', 'abcdefghijkl', 'abcd1234']) {
    expect(text).not.toContain(secret);
    expect(shown.join()).not.toContain(secret);
  }
  expect(text).toContain('/root/home off');
});

test('warnings and errors are shown in one line each, the rest is not', async () => {
  await using home = await folder();
  const shown: string[] = [];
  const { sink } = openLog(home.at('logs'), { show: (line) => shown.push(line) });
  sink({ level: 'info', message: 'quiet' });
  sink({ level: 'warn', message: 'a\n  b', plugin: 'x' });
  sink({ level: 'error', message: 'c' });
  expect(shown).toEqual(['warn [x] a b', 'error c']);
});

test('a log that cannot be written throws nothing', async () => {
  await using home = await folder({ logs: 'a file where the folder should be' });
  const { sink, flush } = openLog(home.at('logs'));
  sink({ level: 'info', message: 'lost' });
  flush();
  expect(existsSync(home.at('logs/instar.log'))).toBe(false);
});
