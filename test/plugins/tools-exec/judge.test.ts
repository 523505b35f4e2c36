import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, afterAll, expect, test } from 'vitest';
import { changedSince } from '../../../plugins/tools-exec/prints.ts';
import type { Rules } from '../../../plugins/tools-exec/rules.ts';
import { machine, named, program } from './machine.ts';

const programs =
  'ls git cat echo node python3 python3.11 sh bash env sudo xargs nice timeout find busybox awk mawk perl ssh head tail wc tr cut uniq sort grep jq npm make rm id vim.basic instar';
let box: Awaited<ReturnType<typeof machine>>;
beforeAll(async () => {
  box = await machine(programs.split(' '), { vi: 'vim.basic', nawk: 'mawk', lx: 'ls' });
  for (const applet of ['bcat', 'ash']) await symlink('busybox', join(box.bin, applet));
  await program(join(box.workspace, 'tool'));
});
afterAll(() => box[Symbol.asyncDispose]());

const lists = named(
  'ls',
  'cat',
  'echo',
  'git',
  'node',
  'python3',
  'sh',
  'env',
  'xargs',
  'timeout',
  'nice',
  'find',
  'busybox',
  'awk',
  'instar',
  'vi',
  'npm',
  'tool',
);

/** Command, kind, what runs it, and what the reasons say. */
const rows: readonly (readonly [command: string, kind: 'allow' | 'ask', runs: 'plan' | 'shell', why: RegExp])[] = [
  ['ls', 'allow', 'plan', /every part/],
  ['ls -l  sub', 'allow', 'plan', /every part/],
  ['cat a | ls && echo "x y" || cat <b >c 2>&1; ls', 'allow', 'plan', /every part/],
  ["'l's", 'allow', 'plan', /every part/],
  ['l\\s', 'allow', 'plan', /every part/],
  ['l\\\ns', 'allow', 'plan', /every part/],
  ['! ls', 'allow', 'plan', /every part/],
  ['cd sub && ls', 'allow', 'plan', /every part/],
  ['cd .. && ls', 'ask', 'shell', /no folder of the workspace/],
  ['false || cd sub; ls', 'ask', 'shell', /needs a shell/],
  ['cat <<X\nhi\nX', 'allow', 'plan', /every part/],
  ["cat <<'X'\n$(id)\nX", 'allow', 'plan', /every part/],
  ['cat <<X\n$(id)\nX', 'ask', 'shell', /.*/],
  ['cat <<< hi', 'allow', 'plan', /every part/],
  ['timeout 5 ls', 'allow', 'plan', /every part/],
  ['timeout 5 rm x', 'ask', 'plan', /not on the allowlist/],
  ['timeout -s KILL 5 ls', 'ask', 'plan', /wrapper/],
  ['nice -n 5 ls', 'allow', 'plan', /every part/],
  ["sh -c 'ls'", 'allow', 'plan', /every part/],
  ["bash -lc 'ls && cat a'", 'allow', 'plan', /every part/],
  ["sh -c 'rm x'", 'ask', 'plan', /not on the allowlist/],
  ["sh -c 'ls' extra", 'ask', 'plan', /"sh" is a shell/],
  // Every part must be listed.
  ['ls; rm x', 'ask', 'plan', /not on the allowlist/],
  ['ls\nrm x', 'ask', 'plan', /not on the allowlist/],
  ['ls && rm x', 'ask', 'plan', /not on the allowlist/],
  ['echo x | node', 'ask', 'plan', /"node" is an interpreter/],
  ['ls & rm x', 'ask', 'shell', /.*/],
  ['ls &', 'ask', 'shell', /background/],
  ['ls $(rm x)', 'ask', 'shell', /.*/],
  ['ls `rm x`', 'ask', 'shell', /.*/],
  ['ls "$(rm x)"', 'ask', 'shell', /.*/],
  ['cat <(rm x)', 'ask', 'shell', /.*/],
  ['(ls)', 'ask', 'shell', /subshell/],
  ['{ ls; }', 'ask', 'shell', /group/],
  ['if ls; then rm x; fi', 'ask', 'shell', /.*/],
  ['for x in a; do ls; done', 'ask', 'shell', /"for"/],
  ['f() { ls; }; f', 'ask', 'shell', /.*/],
  ['[[ -e x ]] && ls', 'ask', 'shell', /.*/],
  ['time ls', 'ask', 'shell', /time/],
  // Expansions.
  ['ls $HOME', 'ask', 'shell', /.*/],
  ['ls "${HOME}"', 'ask', 'shell', /.*/],
  ['ls *', 'ask', 'shell', /.*/],
  ['ls {a,b}', 'ask', 'shell', /.*/],
  ['ls ~/x', 'ask', 'shell', /expands/],
  ["ls $'a'", 'ask', 'shell', /.*/],
  ['l$x"s"', 'ask', 'shell', /.*/],
  ['$x', 'ask', 'shell', /.*/],
  ['A=1 ls', 'ask', 'shell', /assignment/],
  ['LD_PRELOAD=./x.so ls', 'ask', 'shell', /assignment/],
  ['A=1', 'ask', 'shell', /.*/],
  ['export A=1; ls', 'ask', 'shell', /.*/],
  // What only a shell has.
  ['eval ls', 'ask', 'shell', /command of the shell itself/],
  ['exec ls', 'ask', 'shell', /command of the shell itself/],
  ['. ./tool', 'ask', 'shell', /command of the shell itself/],
  ['command ls', 'ask', 'shell', /command of the shell itself/],
  ['ls 3>x', 'ask', 'shell', /descriptor 3/],
  ['ls >& x', 'ask', 'shell', /.*/],
  // Wrappers and interpreters cannot be listed.
  ['sh x.sh', 'ask', 'plan', /"sh" is a shell, which no list can allow/],
  ['env ls', 'ask', 'plan', /"env" is a wrapper/],
  ['xargs ls', 'ask', 'plan', /"xargs" is a wrapper/],
  ['sudo ls', 'ask', 'plan', /"sudo" is a wrapper/],
  ['ssh h ls', 'ask', 'plan', /"ssh" is a wrapper/],
  ['busybox cat', 'ask', 'plan', /"busybox" is a wrapper/],
  ['ash', 'ask', 'plan', /"ash" is a shell/],
  ['node -e 1', 'ask', 'plan', /interpreter/],
  ['python3 -c 1', 'ask', 'plan', /interpreter/],
  ['python3.11 -c 1', 'ask', 'plan', /interpreter/],
  ['awk 1', 'ask', 'plan', /interpreter/],
  ['nawk 1', 'ask', 'plan', /interpreter/],
  ['vi x', 'ask', 'plan', /interpreter/],
  ['vim.basic x', 'ask', 'plan', /interpreter/],
  ['instar approvals allow x', 'ask', 'plan', /control of the gateway/],
  ['find . -name x', 'allow', 'plan', /every part/],
  ['find . -exec ls {} ;', 'ask', 'shell', /.*/],
  ["find . -exec ls '{}' ';'", 'ask', 'plan', /starts, changes or removes/],
  ['find . -delete', 'ask', 'plan', /starts, changes or removes/],
  // By real path, not by text.
  ['./ls', 'ask', 'shell', /no program/],
  ['lx', 'ask', 'plan', /not on the allowlist/],
  ['nope', 'ask', 'shell', /no program "nope"/],
  ['./tool', 'ask', 'plan', /not on the allowlist/],
  ['git status', 'ask', 'plan', /an entry needs args or argPattern/],
  ['npm test', 'ask', 'plan', /an entry needs args or argPattern/],
  // Look-alikes and what cannot be seen.
  ['\u043bs', 'ask', 'shell', /letters that look like others/],
  ['ls\u200b', 'ask', 'shell', /.*/],
  ['ls\u00a0-l', 'ask', 'shell', /.*/],
  ['ls \u202ex', 'ask', 'shell', /.*/],
  ['ls\u001b[2K', 'ask', 'shell', /.*/],
  ['ls "unclosed', 'ask', 'shell', /.*/],
  ['# ls', 'ask', 'shell', /nothing but comments/],
];
test.each(rows)('SPEC 4.2: %j is %s and would run as a %s', async (command, kind, runs, why) => {
  const answer = await box.test(command, lists);
  expect({ kind: answer.kind, runs: answer.runs }).toEqual({ kind, runs });
  expect([answer.why, ...answer.parts.map((part) => part.why), ...answer.shellOnly].join('\n')).toMatch(why);
  expect(answer.plan !== undefined).toBe(runs === 'plan');
  expect(answer.text).toBe(command);
});

const safe: readonly (readonly [command: string, isSafe: boolean])[] = [
  ['head -n 5', true],
  ['head -20', true],
  ['head -n5 -q', true],
  ['head --lines=5', true],
  ['head --lines 5', true],
  ['head file', false],
  ['head *', false],
  ['head $HOME/secret', false],
  ['head -n 5 file', false],
  ['head -- file', false],
  ['head --lin=5', false],
  ['tail -f', false],
  ['tail --follow=name', false],
  ['wc -l', true],
  ['wc --files0-from=x', false],
  ['cut -d: -f1', true],
  ['cut -d : -f 1,2', true],
  ["cut -d ' ' -f 1", true],
  ['cut -f 1 file', false],
  ['tr a-z A-Z', true],
  ['tr -d x', true],
  ['tr', false],
  ['tr a b c', false],
  ['uniq -c', true],
  ['uniq in out', false],
  ['sort', false],
  ['./head', false],
  ['head -', false],
];
test.each(safe)('SPEC 4.2: as a safe bin %j passes: %s', async (command, isSafe) => {
  expect((await box.test(command)).kind).toBe(isSafe ? 'allow' : 'ask');
});

test('a safe bin needs a trusted folder and a profile, and is never an interpreter', async () => {
  const bins = (names: readonly string[], more: Partial<Rules['safeBins']> = {}) => ({
    safeBins: { names, trustedDirs: [box.bin], profiles: {}, ...more },
  });
  expect((await box.test('head', bins(['head'], { trustedDirs: [] }))).why).toMatch(/safeBinTrustedDirs/);
  expect((await box.test('id', bins(['id']))).why).toMatch(/no profile/);
  expect((await box.test('node', bins(['node'], { profiles: { node: {} } }))).why).toMatch(/interpreter/);
  expect((await box.test('sort -r', bins(['sort']))).kind).toBe('allow');
  expect((await box.test('sort -o x', bins(['sort']))).kind).toBe('ask');
  expect((await box.test('jq .a', bins(['jq']))).kind).toBe('allow');
  expect((await box.test('jq env', bins(['jq']))).kind).toBe('ask');
  expect((await box.test("jq '$ENV.KEY'", bins(['jq']))).kind).toBe('ask');
  expect((await box.test('grep -r x', bins(['grep']))).kind).toBe('ask');
  expect((await box.test('id -u', bins(['id'], { profiles: { id: { allowedFlags: ['-u'] } } }))).kind).toBe('allow');
});

test('entries: by path, with wildcards, by arguments, by a pattern for them, by content', async () => {
  const entry = (own: object) => ({ entries: [{ pattern: 'git', place: 'p', ...own }] });
  const kind = async (command: string, own: object) => (await box.test(command, entry(own))).kind;
  expect(await kind('ls', { pattern: `${box.bin}/ls` })).toBe('allow');
  expect(await kind('ls', { pattern: `${box.bin}/*` })).toBe('allow');
  expect(await kind('ls', { pattern: `${box.root}/**` })).toBe('allow');
  expect(await kind('ls', { pattern: `${box.root}/*` })).toBe('ask');
  expect(await kind('ls', { pattern: 'bin/ls' })).toBe('ask');
  expect(await kind('git status', { args: ['status'] })).toBe('allow');
  expect(await kind('git status -s', { args: ['status'] })).toBe('ask');
  expect(await kind('git log -3', { argPattern: 'log -\\d+' })).toBe('allow');
  expect(await kind('git log -3 --ext-diff', { argPattern: 'log -\\d+' })).toBe('ask');
  expect(await kind("git 'log -3'", { argPattern: 'log -\\d+' })).toBe('ask');
  expect(await kind('ls', { pattern: 'ls', sha256: '0'.repeat(64) })).toBe('ask');
});

test('a program of the workspace is only listed by its content, for the agent can change it', async () => {
  const path = join(box.workspace, 'tool');
  const answer = await box.test('./tool', named(path));
  expect(answer).toMatchObject({ kind: 'ask' });
  expect(answer.why).toMatch(/lies in the workspace/);
});

test('S1: a name that leads through a link in the workspace is no entry of that name', async () => {
  const links = join(box.workspace, 'links');
  await mkdir(links);
  await symlink(join(box.bin, 'rm'), join(links, 'ls'));
  const answer = await box.test('ls -rf x', named('ls'), { path: `${links}:${box.bin}` });
  expect(answer.kind).toBe('ask');
  expect(answer.why).toMatch(/lies in the workspace/);
});

const tiers: readonly (readonly [command: string, own: Partial<Rules>, kind: string, rule: string])[] = [
  ['id', {}, 'ask', 'security'],
  ['id', { ask: 'off' }, 'deny', 'ask'],
  ['ls', { ask: 'off', ...lists }, 'allow', 'allowlist[0]'],
  ['ls', { ask: 'always', ...lists }, 'ask', 'ask'],
  ['id', { security: 'full' }, 'allow', 'security'],
  ['id', { security: 'full', ask: 'off' }, 'allow', 'security'],
  ['id', { security: 'full', ask: 'always' }, 'ask', 'ask'],
  ['ls', { security: 'deny', ...lists }, 'deny', 'security'],
  ['ls', { security: 'deny', ask: 'always' }, 'deny', 'security'],
  ['ls', { host: 'node', security: 'full' }, 'deny', 'host'],
  ['ls', { host: 'sandbox', security: 'full' }, 'deny', 'host'],
  ['id -u', { lines: [{ line: 'id -u', place: 'allow[0]' }] }, 'allow', 'allow[0]'],
  ['id', { lines: [{ line: 'id -u', place: 'allow[0]' }] }, 'ask', 'security'],
  ['id  -u', { lines: [{ line: 'id -u', place: 'allow[0]' }] }, 'allow', 'allow[0]'],
  ['node x', { lines: [{ line: 'node x', place: 'allow[0]' }] }, 'ask', 'security'],
  ['timeout 5 id -u', { lines: [{ line: 'timeout 5 id -u', place: 'allow[0]' }] }, 'allow', 'allow[0]'],
  ['nice -n 5 id -u', { lines: [{ line: 'timeout 5 id -u', place: 'allow[0]' }] }, 'allow', 'allow[0]'],
  ['timeout 5 id', { lines: [{ line: 'timeout 5 id -u', place: 'allow[0]' }] }, 'ask', 'security'],
];
test.each(tiers)('SPEC 4.1: %j under %j is %s', async (command, own, kind, rule) => {
  expect(await box.test(command, own)).toMatchObject({ kind, rule });
});

test('U067: of a pipe every program is judged, and the reasons name the one that is not listed', async () => {
  const { kind, parts } = await box.test('echo 1 | node', named('echo'));
  expect(kind).toBe('ask');
  expect(parts).toMatchObject([
    { text: 'echo 1', executable: join(box.bin, 'echo'), isAllowed: true },
    { text: 'node', executable: join(box.bin, 'node'), isAllowed: false, why: expect.stringContaining('interpreter') },
  ]);
});

test('U068: what "always" grants is the inner program with its arguments, never the shell around it', async () => {
  const { grants } = await box.test("sh -lc 'id -u'");
  expect(grants).toEqual([
    {
      executable: join(box.bin, 'id'),
      real: join(box.bin, 'id'),
      args: ['-u'],
      cwd: box.workspace,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  for (const command of ['sh x', 'node x', 'ls $(id)', 'sudo id', 'find . -delete'])
    expect([command, (await box.test(command)).grants]).toEqual([command, undefined]);
});

test('U070: a program that is many by its name is the one that is called, never all of them', async () => {
  expect((await box.test('bcat', named(join(box.bin, 'bcat')))).kind).toBe('allow');
  expect((await box.test('bcat', named(join(box.bin, 'busybox')))).kind).toBe('ask');
  expect((await box.test('busybox sh -c id', named(join(box.bin, 'bcat'), 'busybox'))).kind).toBe('ask');
  expect((await box.test('ash -c id', named(join(box.bin, 'ash')))).kind).toBe('ask');
});

test('U071: what a shell would expand is never passed on: a pattern and a variable ask', async () => {
  for (const command of ['head *', 'head $HOME/.ssh/id', 'head "$HOME"/x', 'head ~/.ssh/id'])
    expect((await box.test(command)).kind).toBe('ask');
});

test('U079: with a list, what is not on it is refused', async () => {
  expect((await box.test('id', { ...named('ls'), ask: 'off' })).kind).toBe('deny');
});

test('S2: a program or a script that is swapped after the judgement is noticed', async () => {
  await using own = await machine(['tool', 'sh']);
  await writeFile(join(own.workspace, 'build.sh'), 'echo safe');
  const plan = await own.test('tool', named('tool'));
  const shell = await own.test('sh build.sh $X');
  expect([await changedSince(plan.bound), await changedSince(shell.bound)]).toEqual([undefined, undefined]);
  await writeFile(join(own.workspace, 'build.sh'), 'rm -rf /');
  expect(await changedSince(shell.bound)).toBe(join(own.workspace, 'build.sh'));
  await program(join(own.root, 'evil'));
  await rename(join(own.root, 'evil'), join(own.bin, 'tool'));
  expect(await changedSince(plan.bound)).toBe(join(own.bin, 'tool'));
});

test('PATH: empty and relative entries lead nowhere, and a folder or a plain file is no program', async () => {
  await using own = await machine();
  await program(join(own.workspace, 'evil'));
  await mkdir(join(own.bin, 'evil'));
  await writeFile(join(own.bin, 'plain'), '');
  await chmod(join(own.bin, 'plain'), 0o644);
  for (const name of ['evil', 'plain']) {
    expect((await own.test(name, named('evil', 'plain'), { path: `:.:${own.bin}` })).parts[0]?.why).toContain('no program');
  }
});

test('more programs and files than can be compared are refused with a reason, and none is left out in silence', async () => {
  const files = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`).join(' ');
  for (const [command, kind] of [
    [`node ${files(199)}`, 'ask'],
    [`node ${files(200)}`, 'deny'],
    [`node ${files(200)} $X`, 'deny'],
    [Array.from({ length: 201 }, () => '$X').join('\n'), 'deny'],
  ] as const) {
    const answer = await box.test(command);
    expect([command.slice(0, 20), answer.kind]).toEqual([command.slice(0, 20), kind]);
    if (kind === 'deny') expect(answer.why).toMatch(/20[12] (programs and files|words), more than the 200 .*do it in smaller steps/);
    else expect(answer.bound.size).toBe(200);
  }
});
