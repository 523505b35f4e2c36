import { realpathSync } from 'node:fs';
import { Host, type ToolCall } from '../../kernel/index.ts';
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

/** The fence of the turn that a call belongs to. */
export const fenceOf = ({ run }: ToolCall): Fence => ({
  root: run.get(Turn).workspace,
  closed: closedTo(run.get(Host)),
});
