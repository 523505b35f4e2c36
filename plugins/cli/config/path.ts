import { joinKey, KernelError } from '../../../kernel/index.ts';

/** One step of a config path. `[main]` and `[0]` are `within` a list, or an object whose key they are; `[+]` is a new element. */
export interface Step {
  readonly key: string;
  /** Written between brackets and without quotes. */
  readonly isBare: boolean;
}

const step = /(?:^|\.)([^.[\]"'\s]+)|\[\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]|\[([^[\]"']*)\]/y;

/** `agents.list[main]["odd key"][0]` → steps; throws CONFIG_PATH. */
export function parsePath(path: string): readonly Step[] {
  const steps: Step[] = [];
  for (step.lastIndex = 0; step.lastIndex < path.length; ) {
    const at = step.lastIndex;
    const [, word, quoted, bare] = step.exec(path) ?? [];
    if (word === undefined && quoted === undefined && !bare?.trim()) throw unreadable(path, at);
    const key = word ?? (quoted === undefined ? (bare ?? '').trim() : unquoted(quoted));
    steps.push({ key, isBare: bare !== undefined });
  }
  if (steps.length === 0) throw new KernelError('CONFIG_PATH', 'an empty path names nothing; give one such as agents.defaults.model');
  return steps;
}

const unquoted = (text: string) => text.slice(1, -1).replace(/\\(.)/g, '$1');

function unreadable(path: string, at: number): KernelError {
  const where = at === 0 ? 'at its beginning' : `after "${path.slice(0, at)}"`;
  const form = 'write it as in agents.list[0].model or models.providers["my key"].apiKey';
  return new KernelError('CONFIG_PATH', `"${path}" is no config path: it cannot be read ${where}; ${form}`);
}

/** As errors print it. */
export const pathText = (keys: readonly string[]) => keys.reduce(joinKey, '');
