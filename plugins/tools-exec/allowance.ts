import { realpath } from 'node:fs/promises';
import { matchEntry, type Placed } from './allowlist.ts';
import type { Executable } from './executable.ts';
import { neverGranted, wrapperWords } from './kinds.ts';
import { parseCommand } from './parse.ts';
import type { Sight } from './prints.ts';
import type { Rules } from './rules.ts';
import { unsafe } from './safe-bins.ts';

export interface Allowance {
  readonly isAllowed: boolean;
  readonly why: string;
}

/** Where a command would run, and the files as this judgement sees them. */
export interface Here {
  readonly workspace: string;
  readonly cwd: string;
  readonly sight: Sight;
}

/** Safe filter, entry of a list, or exact line: what lets this program run with these arguments; else why nothing does. */
export async function allowance(
  executable: Executable,
  name: string,
  args: readonly string[],
  { cwd, sight, workspace: given }: Here,
  rules: Rules,
): Promise<Allowance> {
  const never = neverGranted(executable, args);
  if (never) return { isAllowed: false, why: `${never}, which no list can allow` };
  const danger = unsafe(executable, name, args, rules.safeBins);
  if (!danger) return { isAllowed: true, why: 'a safe bin' };
  const workspace = await realpath(given).catch(() => given);
  const entries = [...rules.entries, ...(await linesAsEntries(rules, name))];
  const match = await matchEntry(executable, args, entries, { workspace, cwd, sight });
  if ('by' in match) return { isAllowed: true, why: match.by.place };
  return { isAllowed: false, why: rules.safeBins.names.includes(name) ? danger : match.why };
}

/** `tools.exec.allow`: each simple command of a line, to the letter, and by its inner program as what is judged is. */
async function linesAsEntries({ lines }: Rules, name: string): Promise<readonly Placed[]> {
  const near = lines.filter(({ line }) => line.includes(name));
  const parsed = await Promise.all(near.map(async ({ line, place }) => ({ place, steps: (await parseCommand(line)).steps ?? [] })));
  return parsed.flatMap(({ place, steps }) =>
    steps
      .flatMap(({ commands }) => commands.map(({ words }) => words.slice(wrapperWords(words) ?? 0)))
      .map(([pattern = '', ...args]) => ({ pattern, args, place }))
      .filter(({ pattern }) => pattern === name),
  );
}
