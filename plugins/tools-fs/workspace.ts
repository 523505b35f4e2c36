import { realpathSync } from 'node:fs';
import { Host, KernelError, type ToolCall } from '../../kernel/index.ts';
import { outsidePath, Sandbox } from '../sandbox/contract.ts';
import { Turn } from '../turns/contract.ts';
import type { Fence } from './path-guard.ts';

/** Kernel files, and ours: a workspace may be as wide as the home folder, our state and config stay out of reach. */
export const closedTo = ({ home, configFile }: Host): readonly string[] =>
  ['/proc', '/sys', '/dev', home, ...(configFile === undefined ? [] : [configFile])].map(real);

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not there: nothing to close yet
  }
}

/** The fence of the turn that a call belongs to: in a sandbox, that of the files which its commands see. */
export function fenceOf({ run }: ToolCall): Fence {
  const closed = closedTo(run.get(Host));
  if (!run.subject.sandboxed) return { root: run.get(Turn).workspace, closed };
  const world = run.get(Sandbox).worldOf(run);
  if (!world)
    throw new KernelError('SANDBOX_UNAVAILABLE', 'this session is sandboxed and no sandbox took it; see "instar sandbox explain"');
  const readOnly = world.isWritable ? {} : { readOnly: 'the sandbox has the workspace read-only' };
  return { root: world.workspace, closed, alias: (path) => outsidePath(path, world.workspace), ...readOnly };
}
