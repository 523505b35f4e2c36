import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Approver, definePlugin } from '../../../kernel/index.ts';
import { WrapSpawn } from '../../../plugins/tools-exec/contract.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { allowAll, textOf, toolbench, type Toolbench } from '../../support/toolbench.ts';
import { program } from './machine.ts';

const names = 'echo cat printf true false ls head tail tr wc sort uniq seq sleep basename test pwd dirname yes touch';
const listed = { tools: { exec: { ask: 'off', allowlist: names.split(' ') } } };
const full = { tools: { exec: { security: 'full' } } };
const boot = (config: object = listed) => toolbench([toolsFs, toolsExec, allowAll], config as never);

/** Each is executed by us under an allowlist, and by bash: what comes out is the same. */
const commands = [
  'echo a  "b  c" \'d\' e\\ f "g\\"h"',
  'echo a | tr a-z A-Z',
  'printf "b\\na\\nb\\n" | sort | uniq -c',
  'true && echo yes || echo no',
  'false && echo yes || echo no',
  'false || false || echo third',
  'true || echo no && echo and',
  '! true; echo after',
  '! false && echo negated',
  'false; echo on',
  'false',
  'true | false',
  'false | true',
  'yes | head -n 2',
  'seq 100000 | wc -l',
  'cat nothing-there',
  'cat nothing-there 2>/dev/null; echo x',
  'cat nothing-there 2>&1 | wc -l',
  'echo out >o; cat o; echo more >>o; cat <o',
  'echo both >b 2>&1; cat b',
  'cat nothing-there &>e; cat e',
  'echo to-err >&2',
  'cat <<X\nhi  there\n  "x"\nX',
  "cat <<'X' | tr a-z A-Z\n$HOME `id`\nX",
  'cat <<< "here we are"',
  'cat',
  'cd sub; pwd | tail -c 4',
  'cd sub && cd .. && ls -d sub',
  'echo x >sub/f && cat sub/f',
  'cd sub && echo y >g; cat g',
  'test -e sub && echo there',
  "sh -c 'echo inner | tr i I'",
  'timeout 5 echo in time',
  'timeout 0.2 sleep 9',
  'echo "multi\nline"',
  'echo a\\\nb',
  'echo é 日本 | wc -c',
  'echo a # a comment',
  'head -c 5 /dev/null',
];

let benches: readonly Toolbench[] = [];
beforeAll(async () => {
  benches = [await boot(), await boot(full)];
  for (const { workspace } of benches) await mkdir(join(workspace, 'sub'), { recursive: true });
});
afterAll(async () => {
  for (const bench of benches) await bench[Symbol.asyncDispose]();
});

test.each(commands)('S1: without a shell %j does what it does in one', async (command) => {
  const [mine, theirs] = await Promise.all(benches.map((bench) => bench.call('exec', { command })));
  // We name programs by their path.
  expect(textOf(mine!).replaceAll('/usr/bin/', '')).toBe(textOf(theirs!).replaceAll('/usr/bin/', ''));
});

const outside: readonly (readonly [command: string, why: RegExp])[] = [
  ['echo x >../out', /outside the workspace/],
  ['echo x >/tmp/instar-never', /outside the workspace/],
  ['echo x >link/out', /outside the workspace/],
  ['echo x >file-link', /outside the workspace/],
  ['cat </etc/passwd', /outside the workspace/],
  ['cat <../secret', /outside the workspace/],
  ['cat </proc/self/environ', /outside the workspace/],
  ['echo x >sub', /is a folder/],
  ['echo x >a 2>b <c >d 2>e >f', /more than 5|does not exist/],
];
test.each(outside)('S13: the redirection of %j reaches nothing outside the workspace', async (command, why) => {
  await using bench = await boot();
  await mkdir(join(bench.workspace, 'sub'), { recursive: true });
  await writeFile(join(bench.workspace, 'c'), '');
  await writeFile(join(bench.test.home, 'secret'), 'secret');
  await symlink(bench.test.home, join(bench.workspace, 'link'));
  await symlink(join(bench.test.home, 'secret'), join(bench.workspace, 'file-link'));
  const result = await bench.call('exec', { command });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(why);
  expect(existsSync('/tmp/instar-never')).toBe(false);
  expect(readFileSync(join(bench.test.home, 'secret'), 'utf8')).toBe('secret');
});

test('SPEC 4.1: an agent has tiers, entries and lines of its own; its lists add to those of all', async () => {
  const { default: agents } = await import('../../../plugins/agents/index.ts');
  const { default: policy } = await import('../../../plugins/policy/index.ts');
  const config = {
    tools: { exec: { ask: 'off', allow: ['echo all'] } },
    agents: {
      list: [
        { id: 'main' },
        { id: 'free', tools: { exec: { security: 'full' } } },
        { id: 'more', tools: { exec: { allowlist: ['printf'] } } },
        { id: 'none', tools: { exec: { security: 'deny' } } },
      ],
    },
  };
  await using bench = await toolbench([toolsFs, agents, policy, toolsExec], config);
  const said = async (agent: string, command: string) =>
    textOf(await bench.call('exec', { command }, { subject: { agent } })).split('\n')[0];
  expect(await said('main', 'echo all')).toBe('all');
  expect(await said('main', 'printf x')).toContain('exec was denied');
  expect(await said('more', 'printf x; echo all')).toBe('xall');
  expect(await said('free', 'echo $((1+1))')).toBe('2');
  expect(await said('none', 'echo all')).toMatch(/exec is not available here: agents\.list\[3\]\.tools\.exec\.security is "deny"/);
});

/** An approver that changes something while a person thinks. */
const yesAfter = (work: (bench: { workspace: string }) => Promise<void>, at: { workspace: string }) =>
  definePlugin({
    name: 'yes',
    description: 'test',
    provides: [Approver],
    setup: (ctx) =>
      ctx.provide(Approver, {
        async ask() {
          await work(at);
          return { allowed: true, why: 'yes' };
        },
      }),
  });

test('U073, S2: a script that is swapped between the approval and the start is not run', async () => {
  const at = { workspace: '' };
  const swap = async () => writeFile(join(at.workspace, 'build.sh'), 'echo evil');
  await using bench = await toolbench([toolsFs, toolsExec, allowAll, yesAfter(swap, at)]);
  at.workspace = bench.workspace;
  await mkdir(bench.workspace, { recursive: true });
  await writeFile(join(bench.workspace, 'build.sh'), 'echo good');
  expect(textOf(await bench.call('exec', { command: 'sh build.sh' }))).toMatch(
    /build\.sh was changed after the command was judged; nothing was run/,
  );
});

test('S2: what is approved without need of a shell is run without one, by the program that was judged', async () => {
  const at = { workspace: '' };
  await using bench = await toolbench([toolsFs, toolsExec, allowAll, yesAfter(async () => {}, at)]);
  await mkdir(bench.workspace, { recursive: true });
  await program(join(bench.workspace, 'tool'));
  expect(textOf(await bench.call('exec', { command: './tool a "b c"' }))).toBe('tool\na\nb c\n[exit code 0]');
});

test('U072, S3: fields that only we set are no arguments', async () => {
  await using bench = await boot();
  for (const field of ['approved', 'approvalDecision', 'security', 'host', 'ask']) {
    expect(textOf(await bench.call('exec', { command: 'id', [field]: 'full' }))).toContain(`unknown key "${field}"`);
  }
});

test('S9: a sandboxed session runs nothing where no sandbox takes it, whatever host and tier say', async () => {
  await using bench = await boot({ tools: { exec: { host: 'gateway', security: 'full' } } });
  const result = await bench.call('exec', { command: 'echo out > leak' }, { subject: { agent: 'main', sandboxed: true } });
  expect(textOf(result)).toMatch(/sandboxed and no sandbox took it; nothing was run/);
  expect(existsSync(join(bench.workspace, 'leak'))).toBe(false);
});

test('SPEC 4.1: in a sandbox a command runs with neither tier nor question, in the world that the backend makes', async () => {
  const backend = definePlugin({
    name: 'box',
    description: 'test',
    setup: (ctx) =>
      ctx.tap(WrapSpawn, (launch, run) =>
        run.subject.sandboxed ? { ...launch, argv: ['/usr/bin/env', 'IN=box', ...launch.argv], world: 'sandbox' as const } : launch,
      ),
  });
  await using bench = await toolbench([toolsFs, toolsExec, allowAll, backend], { tools: { exec: { ask: 'off' } } });
  expect(textOf(await bench.call('exec', { command: 'echo $IN' }, { subject: { agent: 'main', sandboxed: true } }))).toBe(
    'box\n[exit code 0]',
  );
  expect(textOf(await bench.call('exec', { command: 'echo $IN' }))).toContain('was denied');
});

test('a call that nobody judged is not executed', async () => {
  await using bench = await boot();
  const { tools } = await bench.test.kernel.run((run) => run.tools());
  const exec = tools.find((tool) => tool.name === 'exec')!;
  const other = { ...exec, name: 'exec2' };
  const direct = bench.test.kernel.run((run) =>
    Promise.try(() => other.execute({ command: 'id' } as never, { id: 'c', name: 'exec2', run, signal: run.signal, update() {} })),
  );
  await expect(direct).rejects.toThrow();
});

test('the reasons of a refusal name each part', async () => {
  await using bench = await boot({ tools: { exec: { ask: 'off', allowlist: ['echo'] } } });
  const said = textOf(await bench.call('exec', { command: 'echo x | node; ls $HOME' }));
  expect(said).toMatch(/node: "node" is an interpreter/);
  expect(said).toMatch(/it needs a shell for a variable/);
});
