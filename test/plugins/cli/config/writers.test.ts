import { readFileSync } from 'node:fs';
import JSON5 from 'json5';
import { expect, test } from 'vitest';
import { folder } from '../../../host/folder.ts';
import { instar } from '../../../host/instar.ts';

test('U007: of several writers at once, each that says it wrote has written, and the others say that they did not', async () => {
  await using home = await folder({ 'instar.json5': "// mine\n{ agents: { list: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] } }\n" });
  const ids = ['a', 'b', 'c'];
  const ended = await Promise.all(ids.map((id) => instar(home.path, ['config', 'set', `agents.list[${id}].name`, `N${id}`]).ended));
  const text = readFileSync(home.at('instar.json5'), 'utf8');
  const { agents } = JSON5.parse<{ agents: { list: readonly { id: string; name?: string }[] } }>(text);
  const written = ids.filter((_, i) => ended[i]?.code === 0);
  expect(agents.list.filter(({ name }) => name).map(({ id }) => id)).toEqual(written);
  expect(written).not.toEqual([]);
  for (const { code, err } of ended) expect(err).toMatch(code === 0 ? /^$/ : /^instar: CONFIG_CONFLICT: /);
  expect(text).toContain('// mine');
});
