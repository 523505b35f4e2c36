import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run } from '../../../plugins/sessions-admin/commands/command.ts';
import { instar, startGateway, tempHome } from '../../support/instar.ts';
import { ids, recorded } from './importing.ts';

test('SPEC 12.1, 15.2: a user brings sessions, looks at one, exports it line by line, begins it anew and deletes it', async () => {
  using place = tempHome({});
  await using _ = await startGateway(place.home);
  const sessions = (...args: string[]) => instar(place.home, ['sessions', ...args]);
  const brought = await sessions('import', recorded);
  expect([brought.code, brought.stderr]).toEqual([1, '']); // three of them cannot come
  expect(brought.stdout).toMatch(/^6 added, 3 failed of 9 session\(s\)/);
  expect(brought.stdout).toMatch(/line 14 {2}skipped: the last line is cut off/);
  const shown = await sessions('show', 'main', '--last', '1');
  expect(shown.stdout).toContain('It says: buy milk — „Grüße“ 🐈');
  const exported = await sessions('export', 'main');
  expect(exported.stdout).toBe(readFileSync(join(recorded, 'agents/main/sessions', `${ids.main}.jsonl`), 'utf8'));
  expect(JSON.parse((await sessions('list', '--agent', 'work', '--json')).stdout)).toMatchObject({
    sessions: [{ key: 'agent:work:main' }],
    hasMore: false,
  });
  expect(await sessions('reset', 'main', '--json')).toMatchObject({ code: 0, stdout: expect.stringContaining('"session"') });
  expect(await sessions('export', 'main')).toMatchObject({ code: 1, stderr: expect.stringContaining('SESSION_EMPTY') });
  expect(await sessions('delete', 'main')).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') });
  expect(await sessions('delete', 'main', '--yes')).toMatchObject({ code: 0 });
  expect(await sessions('show', 'main')).toMatchObject({ code: 1, stderr: expect.stringContaining('SESSION_UNKNOWN') });
}, 60_000); // ten processes, beside everything else that runs then

const host = { ask: () => Promise.reject(new Error('nothing was to be asked')) } as unknown as CommandHost;

test.each([
  [['impor', 'x'], 'did you mean "import"?'],
  [['import'], 'takes one folder'],
  [['show', 'a', 'b'], 'takes one session key'],
  [['delete'], 'takes one session key'],
] as const)('sessions %j is told what it lacks', async (args, why) => {
  await expect(run(args, host)).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringContaining(why) });
});

test.each([
  [['show', 'a', '--last', '0'], '--last takes a whole number'],
  [['list', '--nope'], '--nope'],
] as const)('sessions %j is a wrong use of an option', async (args, why) => {
  await expect(run(args, host)).rejects.toMatchObject({
    code: expect.stringMatching(/^(ERR_PARSE_ARGS|CLI_USAGE)/),
    message: expect.stringContaining(why),
  });
});
