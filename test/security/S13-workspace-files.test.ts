import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import agents from '../../plugins/agents/index.ts';
import toolsFs from '../../plugins/tools-fs/index.ts';
import workspaceFiles from '../../plugins/workspace-files/index.ts';
import { bootTest } from '../support/kernel.ts';

test.each([
  ['with the guard of the file tools', [toolsFs]],
  ['without it', []],
])('S13: a workspace file that an agent made a link or a pipe brings nothing else into the prompt, %s', async (_, more) => {
  const top = await mkdtemp(join(tmpdir(), 'instar-files-'));
  try {
    const workspace = join(top, 'ws');
    await mkdir(workspace);
    await writeFile(join(top, 'key'), 'SECRET');
    await writeFile(join(workspace, 'SOUL.md'), 'be kind');
    await symlink(join(top, 'key'), join(workspace, 'AGENTS.md'));
    execFileSync('mkfifo', [join(workspace, 'TOOLS.md')]);
    await using t = await bootTest([agents, workspaceFiles, ...more], { agents: { defaults: { workspace } } });
    const sections = await t.kernel.run((run) => run.sections(), { subject: { agent: 'main' } });
    const text = sections.map((section) => section.text).join('\n');
    expect(text).toContain('be kind');
    expect(text).toContain('### AGENTS.md\n[left out: it is a link that leads outside the workspace]');
    expect(text).not.toMatch(/SECRET|TOOLS\.md/);
  } finally {
    await rm(top, { recursive: true, force: true });
  }
});
