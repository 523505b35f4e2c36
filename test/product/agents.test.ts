import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instar, startGateway, tempHome } from '../support/instar.ts';

const text = `{
  // mine
  agents: {
    list: [
      { id: 'ada', model: 'demo/demo' }, // the first
    ],
  },
  gateway: { http: { endpoints: { chatCompletions: { enabled: true } } } },
}
`;

test('issue 4, 6: "agents new" adds an agent to the text, live at once, and its files beside those that are there', async () => {
  using place = tempHome(text);
  const workspace = join(place.home, 'mine');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'SOUL.md'), 'my own words\n');
  await using gateway = await startGateway(place.home);
  const made = await instar(place.home, ['agents', 'new', 'bob', '--name', 'Bob', '--workspace', workspace]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/AGENTS\.md, IDENTITY\.md.*\n.*left as they are: SOUL\.md/) });
  expect(readFileSync(join(workspace, 'SOUL.md'), 'utf8')).toBe('my own words\n');
  expect(existsSync(join(workspace, 'AGENTS.md'))).toBe(true);

  const headers = { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'instar/bob', messages: [{ role: 'user', content: 'hello' }] });
  expect((await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).status).toBe(200);

  const after = readFileSync(place.file, 'utf8');
  for (const line of text.split('\n')) expect(after).toContain(line);
  const shown = await instar(place.home, ['agents', 'show', 'bob']);
  expect(shown.stdout).toMatch(/name +Bob +agent instar\.json5:6:\d+/);
});

test('SPEC 1.3: all faults of agents are told by one try, each with the line and column of both places', async () => {
  using place = tempHome(`{
  agents: { list: [
    { id: 'a', agentDir: '/tmp/x', systemPrompt: 'be nice' },
    { id: 'b', agentDir: '/tmp/../tmp/x', subagents: { allowAgents: ['aa'] } },
    { id: 'a' },
  ] },
}`);
  const { code, stderr } = await instar(place.home, ['start', '--port', '0']);
  expect(code).toBe(78);
  const lines = stderr.replaceAll(`${place.home}/`, '').split('\n');
  expect(lines.filter((line) => line.startsWith('instar: '))).toEqual([
    expect.stringMatching(/instar\.json5:5:7 agents\.list\[2\]\.id: .*already at instar\.json5:3:7/),
    expect.stringMatching(/instar\.json5:4:16 agents\.list\[1\]\.agentDir: .*agent "a" \(instar\.json5:3:16\)/),
    expect.stringMatching(/instar\.json5:3:36 agents\.list\[0\]\.systemPrompt: .*SOUL\.md.*AGENTS\.md/),
    expect.stringMatching(/instar\.json5:4:70 agents\.list\[1\]\.subagents\.allowAgents\[0\]: .*did you mean "a" \(instar\.json5:3:7\)/),
  ]);
});
