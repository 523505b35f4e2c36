import { chmod, mkdir, mkdtempDisposable, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { CommandHost } from '../../../plugins/cli/contract.ts';
import { run } from '../../../plugins/security/command.ts';
import type { Audit, Placed, Severity } from '../../../plugins/security/contract.ts';
import { folder } from '../../host/folder.ts';
import { instar } from '../../host/instar.ts';

test('issue 6.7: instar security audit tells each finding with its place and what mends it, and never a secret; doctor sums up', async () => {
  const config = `{\n  gateway: { auth: { token: 'changeme' } },\n  tools: { exec: { security: 'full' } },
  models: { providers: { a: { baseUrl: 'https://a.example', apiKey: 'sk-written-4711', models: [{ id: 'm' }] },
    b: { baseUrl: 'https://b.example', apiKey: '\${B_KEY}', models: [{ id: 'm' }] } } },\n}`;
  await using home = await folder({ 'instar.json5': config, '.env': 'B_KEY=sk-of-env-4712', 'plugins/mine/index.js': mine });
  await chmod(home.path, 0o755);
  await chmod(join(home.path, '.env'), 0o600);
  await chmod(join(home.path, 'instar.json5'), 0o644);
  await chmod(join(home.path, 'plugins/mine'), 0o777);
  const told = await instar(home.path, ['security', 'audit']).ended;
  expect(told.out).toMatch(
    /severe .*every command on this machine as you\b.*\n +exec-full {2}\S*instar\.json5:3:20\n +instar config set tools\.exec\.security allowlist/,
  );
  expect(told.out).toMatch(/severe .*instar\.json5 holds secrets, and everybody.*\n +secret-readable\n +chmod 600 \S*instar\.json5/);
  expect(told.out).toMatch(/severe .*plugins\/mine can be written by everybody.*\n +plugin-writable\n +chmod go-w \S*plugins\/mine/);
  expect(told.out).toMatch(
    /warning +models\.providers\.a\.apiKey is written in the config.*\n +secret-in-config {2}\S*instar\.json5:4:\d+\n.*'\$\{A_API_KEY\}'/,
  );
  expect(told.out).not.toMatch(/providers\.b|471[12]|"?changeme/);
  const doctor = await instar(home.path, ['doctor']).ended;
  expect(doctor.out).toMatch(/^warn +security +[4-9] severe, [3-9] warnings; "instar security audit"/m);
}, 60_000);

const mine = `export default { name: 'mine', description: '', setup() {} };`;

const auditOf = (findings: readonly Placed[]): Audit => {
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  return { findings, counts: { severe: count('severe'), warning: count('warning'), note: count('note') } };
};

async function call(audits: readonly Audit[], ...args: string[]) {
  const ask = vi.fn<(method: string) => Promise<Audit | undefined>>();
  for (const audit of audits) ask.mockResolvedValueOnce(audit);
  using out = vi.spyOn(console, 'log').mockReturnValue();
  using err = vi.spyOn(console, 'error').mockReturnValue();
  const code = await run(args, { ask } as unknown as CommandHost);
  return { code, out: out.mock.calls.join('\n'), err: err.mock.calls.join('\n') };
}

const finding = (severity: Severity, more: Partial<Placed> = {}): Placed => ({
  severity,
  code: 'c',
  message: 'm',
  mend: 'x',
  place: 'p',
  ...more,
});

test('it exits with 1 where something severe is left, and with 0 for less', async () => {
  expect((await call([auditOf([finding('warning'), finding('note')])], 'audit')).code).toBe(0);
  expect((await call([auditOf([finding('severe')])], 'audit')).code).toBe(1);
  expect((await call([auditOf([])], 'audit')).out).toBe('nothing was found that is open to others');
});

test('S16: what a config or a file is called reaches the terminal without control characters', async () => {
  const audit = auditOf([finding('note', { message: 'a \u001b[31mred\u202e name', place: 'x\u001b[2J', mend: 'chmod \u0007' })]);
  expect((await call([audit], 'audit')).out).not.toMatch(/\u001b\[(31m|2J)|\u202e|\u0007/);
});

test('--fix takes away what others may, of files alone that are ours and no links, and only once that was confirmed', async () => {
  await using at = await mkdtempDisposable(join(tmpdir(), 'instar-fix-'));
  const [file, link, shared] = ['.env', 'link', 'plugins'].map((name) => join(at.path, name)) as [string, string, string];
  await writeFile(file, 'x');
  await mkdir(shared);
  await symlink(file, link);
  const modes = async () => (await Promise.all([file, shared].map((one) => stat(one)))).map(({ mode }) => (mode & 0o7777).toString(8));
  await chmod(file, 0o666);
  await chmod(shared, 0o1777);
  const found = [
    finding('severe', { file, excess: 0o022 }),
    finding('severe', { file, excess: 0o077 }),
    finding('severe', { file: shared, excess: 0o022 }),
    finding('severe', { file: link, excess: 0o777 }),
    finding('severe', { file: join(at.path, 'gone'), excess: 0o077 }),
    finding('severe', { path: 'a.b' }),
  ];
  const refused = await call([auditOf(found)], 'audit', '--fix');
  expect([refused.code, refused.err, await modes()]).toEqual([1, expect.stringContaining('add --yes'), ['666', '1777']]);
  expect(refused.out.split('\n')).toEqual([`  chmod 600 ${file}  (is 666)`, `  chmod 755 ${shared}  (is 777)`]);
  const done = await call([auditOf(found), auditOf([])], 'audit', '--fix', '--yes');
  expect([done.code, await modes()]).toEqual([0, ['600', '1755']]);
});

test.each([
  [[], /security needs a verb/],
  [['adit'], /did you mean "audit"/],
])('wrong words %j are a wrong use', async (args, says) => {
  await expect(call([], ...args)).rejects.toMatchObject({ code: 'CLI_USAGE', message: expect.stringMatching(says) });
});
