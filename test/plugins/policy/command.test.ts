import { writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import JSON5 from 'json5';
import { afterEach, expect, test, vi } from 'vitest';
import { Methods } from '../../../plugins/gateway/contract.ts';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run as policyCommand } from '../../../plugins/policy/command/policy.ts';
import { run as toolsCommand } from '../../../plugins/policy/command/tools.ts';
import type { TestKernel } from '../../support/kernel.ts';
import { boot } from './catalog.ts';

afterEach(() => vi.restoreAllMocks());

const here = ['read', 'write', 'exec', 'cron'];
const config = { tools: { deny: ['write'] }, agents: { list: [{ id: 'main' }, { id: 'other' }] } };

/** The commands against a kernel in this process; a config's text is one value a line, so that places are seen. */
async function told(command: typeof policyCommand, argv: readonly string[], at: TestKernel) {
  const out: string[] = [];
  const keep = (line: unknown) => void out.push(String(line).replaceAll(/\u001b\[\d+m/g, ''));
  vi.spyOn(console, 'log').mockImplementation(keep);
  vi.spyOn(console, 'error').mockImplementation(keep);
  const host = {
    configFile: undefined,
    env: {},
    async readConfig(file: string | undefined) {
      const { readFile } = await import('node:fs/promises');
      const values = file === undefined ? config : JSON5.parse(await readFile(file, 'utf8'));
      return { values, problems: [], place: (path: string) => `${file ? 'new' : 'live'}.json5:${path}` };
    },
    ask: (method: string, params = {}) =>
      at.kernel.run(async (run) => (await run.call(Methods, {}))[method]?.(JSON.parse(JSON.stringify(params)), {} as never, run)),
  } as unknown as CommandHost;
  const code = await command(argv, host);
  return { code, text: out.join('\n') };
}

test('policy explain prints each tool with the layer, the rule and its place', async () => {
  await using at = await boot(here, config);
  const { text, code } = await told(policyCommand, ['explain', '--sender', 'unknown', '--agent', 'main'], at);
  expect(code).toBe(0);
  expect(text).toMatch(/for +main · chat · sender unknown/);
  expect(text).toMatch(/tools +4 here, 2 offered, 25 known but not here/);
  expect(text).toMatch(/^ {2}write +removed +config +tools\.deny names "write" +tools\.deny\[0\]$/m);
  expect(text).toMatch(/^ {2}cron +removed +owner only +for owners alone; the sender is unknown$/m);
  expect(text).toMatch(/^ {2}exec +offered +each call is judged by its command$/m);
  expect(text).toMatch(/Not here\n {4}edit, apply_patch.*: no plugin that is live brings it/);
});

test('--diff prints gains and losses with the places of both configs, and what it cannot judge', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'policy-'));
  const file = join(folder.path, 'new.json5');
  writeFileSync(file, `{ tools: { deny: ['exec'], exec: { security: 'full' } }, agents: { list: [{ id: 'main' }, { id: 'third' }] } }`);
  await using at = await boot(here, config);
  // tools.exec is another plugin's, which is not live here.
  const refused = await told(policyCommand, ['explain', '--diff', file], at);
  expect(refused).toEqual({ code: 78, text: 'instar: new.json5:tools.exec tools.exec: unknown key "exec"' });
  writeFileSync(file, `{ tools: { deny: ['exec'] }, plugins: {}, agents: { list: [{ id: 'main' }, { id: 'third' }] } }`);
  const { text, code } = await told(policyCommand, ['explain', '--diff', file], at);
  expect(code).toBe(0);
  expect(text).toContain('- exec  tools.deny names "exec"  new.json5:tools.deny[0]');
  expect(text).toContain('+ write  until now: tools.deny names "write"  live.json5:tools.deny[0]');
  expect(text).toMatch(/new agents +third/);
  expect(text).toMatch(/gone agents +other/);
  expect(text).toMatch(/not judged +it also changes plugins/);
});

test('--diff sends nothing of a config but its rules', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'policy-'));
  const file = join(folder.path, 'new.json5');
  writeFileSync(file, `{ gateway: { auth: { token: 'secret' } }, agents: { list: [{ id: 'main', params: { key: 'secret' } }] } }`);
  await using at = await boot(here, config);
  const asked = vi.spyOn(JSON, 'stringify');
  await told(policyCommand, ['explain', '--diff', file], at);
  const sent = asked.mock.calls.map(([value]) => value as { candidate?: unknown }).find((value) => value?.candidate !== undefined);
  expect(sent?.candidate).toEqual({ agents: { list: [{ id: 'main' }] } });
});

test('tools list and tools explain', async () => {
  await using at = await boot(here, config);
  expect((await told(toolsCommand, ['list'], at)).text).toMatch(/Files\n +read +does read\n +write +does write/);
  expect((await told(toolsCommand, ['explain', 'write'], at)).text).toMatch(
    /main +removed for everybody: config: tools\.deny names "write"/,
  );
  expect((await told(toolsCommand, ['explain', 'tts'], at)).text).toMatch(/not here +no plugin that is live brings it/);
  expect((await told(toolsCommand, ['explain'], at)).text).not.toMatch(/^ {2}read/m);
  expect(JSON.parse((await told(toolsCommand, ['list', '--json'], at)).text)).toMatchObject({ here: [{ tool: 'read' }, {}, {}, {}] });
});

test.each([
  [policyCommand, [], 'policy needs a verb'],
  [policyCommand, ['exlpain'], 'policy has no "exlpain"; did you mean "explain"?'],
  [policyCommand, ['explain', '--depth', 'deep'], '--depth is a number'],
  [toolsCommand, ['lits'], 'tools has no "lits"; did you mean "list"?'],
])('wrong usage is told (%#)', async (command, argv, text) => {
  await using at = await boot(here);
  await expect(told(command, argv, at)).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringContaining(text) });
});

test('an id of a group or a sender may be negative, as they are on some platforms', async () => {
  await using at = await boot(here, config);
  const { text, code } = await told(policyCommand, ['explain', '--group', '-1001', '--sender', '-7', '--json'], at);
  expect([code, JSON.parse(text).subject]).toEqual([0, expect.objectContaining({ group: '-1001', sender: 'unknown', senderId: '-7' })]);
});
