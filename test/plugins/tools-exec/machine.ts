import { chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Case, judge, type Judged } from '../../../plugins/tools-exec/judge.ts';
import type { Rules } from '../../../plugins/tools-exec/rules.ts';
import { usualSafeBins } from '../../../plugins/tools-exec/contract/schema.ts';
import { folder } from '../../host/folder.ts';

/** A folder with programs of its own in `bin`, and a workspace beside it: what is judged does not depend on the machine. */
export async function machine(programs: readonly string[] = [], links: Readonly<Record<string, string>> = {}) {
  const made = await folder({});
  const root = await realpath(made.path);
  const bin = join(root, 'bin');
  const workspace = join(root, 'workspace');
  await mkdir(bin);
  await mkdir(join(workspace, 'sub'), { recursive: true });
  for (const name of programs) await program(join(bin, name));
  for (const [name, target] of Object.entries(links)) await symlink(target, join(bin, name));
  const rules = (own: Partial<Rules> = {}): Rules => ({
    agent: 'main',
    host: 'auto',
    security: 'allowlist',
    ask: 'on-miss',
    places: { host: 'host', security: 'security', ask: 'ask' },
    lines: [],
    entries: [],
    hasWrite: true,
    ...own,
    safeBins: { names: usualSafeBins, trustedDirs: [bin], profiles: {}, ...own.safeBins },
  });
  const test = (command: string, own: Partial<Rules> = {}, facts: Partial<Case> = {}): Promise<Judged> =>
    judge({ command, script: command, env: {}, cwd: workspace, workspace, path: bin, ...facts }, rules(own), false);
  return { root, bin, workspace, rules, test, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}

/** An executable that says its name and its arguments, one a line. */
export async function program(path: string, text = '#!/bin/sh\nprintf "%s\\n" "${0##*/}" "$@"\n') {
  await writeFile(path, text);
  await chmod(path, 0o755);
}

export const named = (...patterns: readonly string[]): Pick<Rules, 'entries'> => ({
  entries: patterns.map((pattern, i) => ({ pattern, place: `allowlist[${i}]` })),
});
