import { expect, test } from 'vitest';
import { Approver, definePlugin, type Verdict } from '../../../kernel/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import { type ExecRules, judge } from '../../../plugins/tools-exec/judge.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';

const rules = (own: Partial<ExecRules>): ExecRules => ({ security: 'allowlist', ask: 'on-miss', allow: ['git status'], ...own });

const rows: readonly (readonly [script: string, own: Partial<ExecRules>, kind: Verdict['kind'], rule: string])[] = [
  ['git status', {}, 'allow', 'tools.exec.allow[0]'],
  ['git status ', {}, 'ask', 'tools.exec.allow'],
  ['git  status', {}, 'ask', 'tools.exec.allow'],
  ['GIT status', {}, 'ask', 'tools.exec.allow'],
  ['git status; rm -rf /', {}, 'ask', 'tools.exec.allow'],
  ['git status\nrm -rf /', {}, 'ask', 'tools.exec.allow'],
  ['git status | node', {}, 'ask', 'tools.exec.allow'],
  ['git status $(id)', {}, 'ask', 'tools.exec.allow'],
  ['git status\u200b', {}, 'ask', 'tools.exec.allow'],
  ['ls', { ask: 'off' }, 'deny', 'tools.exec.ask'],
  ['git status', { ask: 'off' }, 'allow', 'tools.exec.allow[0]'],
  ['git status', { ask: 'always' }, 'ask', 'tools.exec.ask'],
  ['ls', { security: 'full' }, 'allow', 'tools.exec.security'],
  ['ls', { security: 'full', ask: 'off' }, 'allow', 'tools.exec.security'],
  ['ls', { security: 'full', ask: 'always' }, 'ask', 'tools.exec.ask'],
  ['git status', { security: 'deny' }, 'deny', 'tools.exec.security'],
  ['git status', { security: 'deny', ask: 'always' }, 'deny', 'tools.exec.security'],
];
test.each(rows)('SPEC 4.1: %j under %j is %s', (script, own, kind, rule) => {
  const verdict = judge(script, rules(own), (path) => path);
  expect(verdict).toMatchObject({ kind, rule });
  if (verdict.kind === 'ask') expect(verdict.why).toBe(script);
});

/** Says yes, and keeps what it was asked. */
function yes() {
  const asked: string[] = [];
  const plugin = definePlugin({
    name: 'yes',
    description: 'test',
    provides: [Approver],
    setup: (ctx) => ctx.provide(Approver, { ask: async (_request, why) => ({ allowed: asked.push(why) > 0, why: 'yes' }) }),
  });
  return { asked, plugin };
}

test('S1: what a person is asked is the very text that runs, folder and variables included', async () => {
  const { asked, plugin } = yes();
  await using bench = await toolbench([toolsExec, allowAll, plugin], { tools: { exec: { allow: ['echo $A'] } } });
  await bench.call('exec', { command: 'echo $A', env: { A: 'x' } });
  await bench.call('exec', { command: 'pwd', cwd: 'sub' });
  expect(asked).toEqual(["export A='x'; echo $A", "cd -- './sub' || exit; pwd"]);
  expect(textOf(await bench.call('exec', { command: asked[0] }))).toBe('x\n[exit code 0]');
});

test('SPEC 4.1: with nothing configured a command is asked for, and denied where no plugin can ask', async () => {
  await using bench = await toolbench([toolsExec, allowAll]);
  const result = await bench.call('exec', { command: 'date' });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('exec was denied: date; no plugin is there to ask a person');
});

test('security "deny" takes the tool away, and says which setting did', async () => {
  await using bench = await toolbench([toolsExec, allowAll], { tools: { exec: { security: 'deny' } } });
  const offer = await bench.test.kernel.run((run) => run.tools());
  expect(offer).toEqual({ tools: [], removed: [{ tool: 'exec', why: 'tools.exec.security is "deny"', rule: 'tools.exec.security' }] });
  expect(textOf(await bench.call('exec', { command: 'date' }))).toContain('tools.exec.security is "deny"');
});

test('an unknown tier is a config error, not a looser tier', async () => {
  await expect(toolbench([toolsExec], { tools: { exec: { security: 'ful' } } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    problems: [{ path: 'tools.exec.security', nearest: 'full' }],
  });
});
