import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { given, type Run, type Subject, type ToolResult } from '../../../kernel/index.ts';
import agents from '../../../plugins/agents/index.ts';
import { Sandbox } from '../../../plugins/sandbox/contract.ts';
import sandbox from '../../../plugins/sandbox/index.ts';
import { type Launch, WrapSpawn } from '../../../plugins/tools-exec/contract.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { Turn } from '../../../plugins/turns/contract.ts';
import { bootTest, type TestOptions } from '../../support/kernel.ts';
import { allowAll, textOf, turnIn } from '../../support/toolbench.ts';

/** Why bubblewrap cannot be tried here; undefined where it can. Installing it is all that most machines need. */
export const noBubblewrap = ((): string | undefined => {
  try {
    execFileSync('bwrap', ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `bubblewrap does not work on this machine (${String(error).split('\n')[0]}); apt install bubblewrap`;
  }
})();

export interface BenchOptions {
  readonly sandbox?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly sessionKey?: string;
  readonly agentId?: string;
  /** The workspace holds our state folder too. */
  readonly isWide?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
  /** A workspace that is there. */
  readonly at?: string;
  /** Commands may read the folder that holds the state folder, and the workspace lies in that. */
  readonly readTop?: boolean;
  readonly sources?: TestOptions['sources'];
}

/** An agent with a sandbox, and the facts of a sandboxed turn around each call. */
export async function bench({
  sandbox: settings = {},
  env,
  isWide = false,
  config = {},
  at: there,
  readTop,
  sources,
  ...usual
}: BenchOptions = {}) {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'instar-sandbox-')));
  const workspace = there ?? (isWide ? top : join(top, readTop ? 'home/ws' : 'ws'));
  const home = join(top, 'home');
  for (const folder of [workspace, home]) await mkdir(folder, { recursive: true });
  const agentsConfig = {
    defaults: { workspace, sandbox: { mode: 'all', ...(readTop && { readable: [top] }), ...settings } },
    list: [{ id: 'main' }, { id: 'other' }],
  };
  const test = await bootTest(
    [agents, toolsFs, toolsExec, sandbox, allowAll],
    { agents: agentsConfig, ...config },
    {
      home,
      env: { PATH: process.env.PATH, ...env },
      ...(sources && { sources }),
    },
  );
  type How = { readonly sandboxed?: boolean; readonly sessionKey?: string; readonly agentId?: string; readonly signal?: AbortSignal };
  const within = <T>(how: How, work: (run: Run) => T | Promise<T>): Promise<T> =>
    test.kernel.run((run) => {
      const { sandboxed = true, agentId = usual.agentId ?? 'main', sessionKey = usual.sessionKey ?? `agent:${agentId}:main` } = how;
      const subject: Subject = { agent: agentId, sandboxed };
      const at = sandboxed ? run.get(Sandbox).workspace({ agentId, sessionKey }, run) : workspace;
      return work(run.as({ subject, signal: how.signal, values: [given(Turn, { ...turnIn(at), agentId, sessionKey })] }));
    });
  return {
    test,
    top,
    workspace,
    within,
    call: (name: string, args: unknown, how: How = {}): Promise<ToolResult> => within(how, (run) => run.callTool({ id: 'c', name, args })),
    exec: async (command: string, how: How = {}) =>
      textOf(await within(how, (run) => run.callTool({ id: 'c', name: 'exec', args: { command } }))),
    /** What is started instead of `launch`. */
    wrap: (launch: Launch, how: How = {}): Promise<Launch> => within(how, (run) => run.call(WrapSpawn, launch)),
    paths: (how: How = {}) => within(how, (run) => run.get(Sandbox).worldOf(run)?.paths),
    async [Symbol.asyncDispose]() {
      await test[Symbol.asyncDispose]();
      await rm(top, { recursive: true, force: true });
    },
  };
}

export type Bench = Awaited<ReturnType<typeof bench>>;

export const launchOf = (cwd: string, more: Partial<Launch> = {}): Launch => ({
  argv: ['/bin/sh', '-c', 'true'],
  cwd,
  env: {},
  world: 'host',
  ...more,
});

/** A folder with programs of our own, for PATH. */
export async function programs(files: Readonly<Record<string, string>>) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'instar-bin-')));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return { path: folder, PATH: `${folder}:${process.env.PATH}`, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
