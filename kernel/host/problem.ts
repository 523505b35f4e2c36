import type { Fault } from '../kernel.ts';
import { KernelError } from '../error.ts';

/** One fault at one place, as people write it: `agents.list[0].modle`. */
export interface Problem extends Fault {
  readonly plugin?: string;
  readonly nearest?: string | undefined;
}

/** All faults of a config at once, each with its path. */
export class ConfigError extends KernelError {
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super('CONFIG_INVALID', problems.map(problemText).join('; '));
    this.problems = problems;
  }
}

export const problemText = ({ path, message, nearest }: Problem) =>
  `${path && `${path}: `}${message}${nearest ? ` (did you mean "${nearest}"?)` : ''}`;

/** Config paths as people write them: `a.b[0]["odd key"]`. */
export function joinKey(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}
