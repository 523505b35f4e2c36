import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openHistory } from '../../../../plugins/cli/config/history.ts';
import { folder } from '../../../host/folder.ts';

const noon = () => new Date('2030-01-01T12:00:00Z');
const open = (home: string) => openHistory(home, noon, () => 'ann');

test('a change of ours has its author; one that was made meanwhile is written down as made by hand', async () => {
  await using home = await folder();
  const history = open(home.path);
  history.notice('/c', 'one');
  history.record({ what: 'set a', file: '/c', before: 'one', after: 'two' });
  history.notice('/c', 'two');
  history.notice('/c', 'three');
  expect(history.entries()).toEqual([
    { id: 1, time: '2030-01-01T12:00:00.000Z', who: '', what: 'first seen', kind: 'seen', file: '/c', after: 'one' },
    { id: 2, time: '2030-01-01T12:00:00.000Z', who: 'ann', what: 'set a', kind: 'ours', file: '/c', before: 'one', after: 'two' },
    { id: 3, time: '2030-01-01T12:00:00.000Z', who: '', what: 'edited by hand', kind: 'hand', file: '/c', before: 'two', after: 'three' },
  ]);
});

test('what another command saw of a change of ours before it was written down is not taken for a hand edit', async () => {
  await using home = await folder();
  const history = open(home.path);
  history.notice('/c', 'one');
  open(home.path).notice('/c', 'two');
  history.record({ what: 'set a', file: '/c', before: 'one', after: 'two' });
  expect(history.entries().map(({ kind }) => kind)).toEqual(['seen', 'ours']);
});

test('it holds texts with secrets, so that nobody else reads it', async () => {
  await using home = await folder();
  open(home.path).notice('/c', 'one');
  expect(statSync(home.at('config-history')).mode & 0o777).toBe(0o700);
  expect(statSync(home.at('config-history/000001.json')).mode & 0o777).toBe(0o600);
});

test('it is bounded, and what we left a file as is never forgotten', async () => {
  await using home = await folder();
  const history = open(home.path);
  history.notice('/other', 'kept');
  for (let i = 0; i < 105; i++) history.record({ what: `set ${i}`, file: '/c', before: String(i), after: String(i + 1) });
  const ids = history.entries().map(({ id }) => id);
  expect([ids.length, ids[0], ids[1], ids.at(-1)]).toEqual([101, 1, 7, 106]);
  history.notice('/other', 'kept');
  expect(history.entries().at(-1)?.id).toBe(106);
});

test('a torn entry is passed over, and its number is not given again', async () => {
  await using home = await folder();
  const history = open(home.path);
  history.notice('/c', 'one');
  writeFileSync(home.at('config-history/000002.json'), '{ "id": 2, "ti');
  expect(history.record({ what: 'set a', file: '/c', before: 'one', after: 'two' }).id).toBe(3);
  expect(history.entries().map(({ id }) => id)).toEqual([1, 3]);
  expect(readdirSync(home.at('config-history'))).toHaveLength(3);
  expect(() => history.get(2)).toThrow(/no change 2/);
});
