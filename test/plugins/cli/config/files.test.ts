import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { readText, replaceText } from '../../../../plugins/cli/config/files.ts';
import { folder } from '../../../host/folder.ts';

test('U007: a file that was changed meanwhile is kept, and told', async () => {
  await using home = await folder({ 'instar.json5': '{}' });
  const file = home.at('instar.json5');
  const before = readText(file);
  await home.write({ 'instar.json5': '{ mine: 1 }' });
  expect(() => replaceText(file, before, '{ a: 1 }')).toThrow(/was changed meanwhile/);
  expect(readFileSync(file, 'utf8')).toBe('{ mine: 1 }');
  expect(() => replaceText(file, undefined, '{ a: 1 }')).toThrow(/was changed meanwhile/);
  expect(readdirSync(home.path)).toEqual(['instar.json5']);
});

test.each([0o644, 0o600, 0o664, 0o666])('the mode of the file (%o) and a link to it stay', async (mode) => {
  await using home = await folder({ 'real.json5': '{}' });
  chmodSync(home.at('real.json5'), mode);
  symlinkSync(home.at('real.json5'), home.at('instar.json5'));
  replaceText(home.at('instar.json5'), '{}', '{ a: 1 }');
  expect(lstatSync(home.at('instar.json5')).isSymbolicLink()).toBe(true);
  expect([readFileSync(home.at('real.json5'), 'utf8'), statSync(home.at('real.json5')).mode & 0o777]).toEqual(['{ a: 1 }', mode]);
});

test('a new file is readable by its owner alone, and a file can be taken away again', async () => {
  await using home = await folder();
  const file = home.at('new.json5');
  replaceText(file, undefined, '{}');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  replaceText(file, '{}', undefined);
  expect(readdirSync(home.path)).toEqual([]);
});

test('U022: where nothing can be written, the file stays as it is, and nothing beside it', async () => {
  await using home = await folder({ 'a.json5': '{}' });
  // A folder in the place of the fresh file's folder: root may write anywhere, but not below a file.
  expect(() => replaceText(home.at('a.json5/b'), undefined, '{}')).toThrow();
  expect([readText(home.at('a.json5')), readdirSync(home.path)]).toEqual(['{}', ['a.json5']]);
});

test('the lock of a writer that died is old, and no hindrance', async () => {
  await using home = await folder({ 'a.json5': '{}' });
  const lock = home.at('.a.json5.lock');
  writeFileSync(lock, '');
  utimesSync(lock, 1, 1);
  replaceText(home.at('a.json5'), '{}', '{ a: 1 }');
  expect([readText(home.at('a.json5')), existsSync(lock)]).toEqual(['{ a: 1 }', false]);
});

test('a BOM is part of the text; bytes that are no UTF-8 are refused rather than changed', async () => {
  await using home = await folder({ 'bom.json5': '\uFEFF{}', 'latin.json5': Buffer.from([0x7b, 0xe4, 0x7d]) });
  expect(readText(home.at('bom.json5'))).toBe('\uFEFF{}');
  expect(() => readText(home.at('latin.json5'))).toThrow(/is not UTF-8/);
});

test.runIf(process.getuid?.() === 0)('a file of somebody else stays his', async () => {
  await using home = await folder({ 'a.json5': '{}' });
  chownSync(home.at('a.json5'), 1234, 1235);
  replaceText(home.at('a.json5'), '{}', '{ a: 1 }');
  expect(statSync(home.at('a.json5'))).toMatchObject({ uid: 1234, gid: 1235 });
});
