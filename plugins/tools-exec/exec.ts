import { mkdir } from 'node:fs/promises';
import { defineTool, Host, KernelError, text, type Tool, type ToolCall, type ToolResult } from '../../kernel/index.ts';
import { PathGuard } from '../tools-fs/contract.ts';
import { Turn } from '../turns/contract.ts';
import { scrubbed } from './environment.ts';
import { Output } from './output.ts';
import { type ExecArgs, folderOf, scriptOf } from './script.ts';
import { type Ended, runShell } from './spawn.ts';

const updateMs = 100;
const updateChars = 4_000;

export const exec: Tool = defineTool({
  name: 'exec',
  description: 'Run a bash command in the workspace. It may have to be approved by a person. Nothing that it starts outlives it.',
  section: 'Runtime',
  parameters: {
    type: 'object',
    required: ['command'],
    additionalProperties: false,
    properties: {
      command: { type: 'string', minLength: 1, pattern: '^[^\\0]*$' },
      cwd: { type: 'string', minLength: 1, pattern: '^[^\\0]*$', description: 'Folder in the workspace' },
      timeoutSeconds: { type: 'number', exclusiveMinimum: 0, maximum: 3600, default: 120 },
      env: {
        type: 'object',
        propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
        additionalProperties: { type: 'string', pattern: '^[^\\0]*$' },
      },
    },
  },
  async execute(args, call) {
    const { workspace } = call.run.get(Turn);
    await mkdir(workspace, { recursive: true });
    await checkFolder(workspace, args, call);
    const began = performance.now();
    const output = new Output();
    using show = coalesced(updateMs, () => call.update(text(output.latest(updateChars))));
    const ended = await runShell({
      script: scriptOf(args),
      cwd: workspace,
      env: scrubbed(call.run.get(Host).env),
      timeoutMs: args.timeoutSeconds * 1000,
      signal: call.signal,
      onOutput(chunk) {
        output.push(chunk);
        show.soon();
      },
    });
    call.signal.throwIfAborted();
    return resultOf(ended, output.text(), args.timeoutSeconds, performance.now() - began);
  },
});

async function checkFolder(workspace: string, { cwd }: ExecArgs, { run }: ToolCall) {
  const folder = folderOf(cwd);
  if (folder === '.') return;
  await using opened = await run.get(PathGuard).open(workspace, folder);
  if (opened.kind !== 'folder') throw new KernelError('PATH_KIND', `cwd "${cwd}" is a file; name a folder`);
}

function resultOf({ exitCode, why, leftovers }: Ended, output: string, seconds: number, ms: number): ToolResult {
  const notes = [
    ...(leftovers ? ['background processes were stopped when the command ended'] : []),
    why === 'timeout' ? `stopped after ${seconds} s (timeoutSeconds)` : exitCode === undefined ? 'killed' : `exit code ${exitCode}`,
  ];
  const shown = output === '' || output.endsWith('\n') ? output : `${output}\n`;
  const isError = why === 'timeout' || exitCode === undefined;
  const details = { exitCode, timedOut: why === 'timeout', ms: Math.round(ms) };
  return { ...text(`${shown}[${notes.join('; ')}]`), details, ...(isError && { isError }) };
}

/** Calls at most once per `ms`, the last state never lost to a call in between. */
function coalesced(ms: number, work: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        work();
      }, ms);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
