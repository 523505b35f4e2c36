import { KernelError, type Run, type ToolCall } from '../../kernel/index.ts';
import { outsidePath, Sandbox } from '../sandbox/contract.ts';
import { Turn } from '../turns/contract.ts';
import { guardedOf } from './guarded.ts';
import type { Fence } from './path-guard.ts';

/** A folder, but not the files of the system's kernel in it, and what decides over the gateway. */
export async function fenceAt(root: string, run: Run): Promise<Fence> {
  const { closed, fixed } = await guardedOf(run);
  return { root, closed: ['/proc', '/sys', '/dev', ...closed], fixed };
}

/** The fence of the turn that a call belongs to: in a sandbox, that of the files which its commands see. */
export async function fenceOf({ run }: ToolCall): Promise<Fence> {
  if (!run.subject.sandboxed) return fenceAt(run.get(Turn).workspace, run);
  const world = run.get(Sandbox).worldOf(run);
  if (!world)
    throw new KernelError('SANDBOX_UNAVAILABLE', 'this session is sandboxed and no sandbox took it; see "instar sandbox explain"');
  const { workspace, isWritable } = world;
  const readOnly = isWritable ? {} : { readOnly: 'the sandbox has the workspace read-only' };
  return { ...(await fenceAt(workspace, run)), alias: (path) => outsidePath(path, workspace), ...readOnly };
}
