import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definePlugin, defineTool, RegisterTools, type Subject, text } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import { Prompt, type PromptMode } from '../../../plugins/prompt/contract.ts';
import prompt from '../../../plugins/prompt/index.ts';
import workspaceFiles from '../../../plugins/workspace-files/index.ts';
import { testKernel } from '../../support/kernel.ts';

const tool = definePlugin({
  name: 'tool',
  description: 'one tool',
  setup: (ctx) =>
    ctx.tap(RegisterTools, (tools) => [
      ...tools,
      defineTool({ name: 'ping', description: '', parameters: { type: 'object' }, execute: () => text('') }),
    ]),
});

async function scene(config: Readonly<Record<string, unknown>> = {}) {
  const t = await testKernel();
  const ws = join(t.home, 'ws');
  await mkdir(ws);
  await t.apply([agents, prompt, workspaceFiles, tool], { agents: { defaults: { workspace: ws } }, ...config });
  const build = (subject: Subject = {}, mode: PromptMode = 'full') =>
    t.kernel.run((run) => run.get(Prompt).build(run, mode), { subject: { agent: 'main', provider: 'p', model: 'm', ...subject } });
  return { ...t, ws, build, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

test('SPEC 5.1, 5.4: sections stand in their order, the runtime line last with all its facts', async () => {
  await using s = await scene();
  await writeFile(join(s.ws, 'SOUL.md'), 'Be kind.');
  const { sections, text: whole } = await s.build();
  expect(sections.map((section) => section.id)).toEqual([
    'identity',
    'tooling',
    'tool-style',
    'safety',
    'workspace',
    'date-time',
    'project-context',
    'runtime',
  ]);
  expect(whole).toContain('You can call: ping.');
  expect(whole).toMatch(
    /Runtime: agent=main \| host=.* \| os=linux \(.*\) \| node=v.* \| model=p\/m \| default_model=none \| shell=.* \| channel=none \| capabilities=none \| thinking=off$/,
  );
});

test('SPEC 5.2: none is the identity line alone', async () => {
  await using s = await scene({ agents: { list: [{ id: 'main', identity: { name: 'Ada' } }] } });
  const { text: whole } = await s.build({}, 'none');
  expect(whole).toMatch(/^You are Ada, [^\n]*$/);
});

test('SPEC 5.3: an edited workspace file is in the next prompt; sub-agents get only the shared ones; long ones are cut visibly', async () => {
  await using s = await scene();
  await writeFile(join(s.ws, 'AGENTS.md'), 'first');
  expect((await s.build()).text).toContain('first');
  await writeFile(join(s.ws, 'AGENTS.md'), 'second edition');
  await writeFile(join(s.ws, 'USER.md'), `${'x'.repeat(19_999)}🎉${'x'.repeat(9999)}`);
  await writeFile(join(s.ws, 'MEMORY.md'), 'private');
  const whole = (await s.build()).text;
  expect(whole).toContain('second edition');
  expect(whole).toContain('x\ufffd\n[cut: 10000 more characters of USER.md]');
  expect(whole).toContain('private');
  expect((await s.build({ session: 'subagent' })).text).not.toContain('private');
});

test('SPEC 5.6: while nothing changed the prompt is the very same object', async () => {
  await using s = await scene();
  expect(await s.build()).toBe(await s.build());
});

test.for([
  'no goals of your own',
  'preserve or copy yourself',
  'gather resources or gain influence',
  'no further than the request',
  'human oversight come before finishing',
  'pause and ask',
  'Obey stop, pause and audit',
  'Never bypass a safeguard',
  'never talk anyone into widening access',
  'Do not change prompts, safety rules or tool policy',
])('SPEC 5.5: the safety section says: %s; also to sub-agents', async (words) => {
  await using s = await scene();
  for (const mode of ['full', 'minimal'] as const) {
    const { sections } = await s.build({}, mode);
    expect(sections.find(({ id }) => id === 'safety')?.text).toContain(words);
  }
});
