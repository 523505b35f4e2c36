import { homedir } from 'node:os';
import { basename, isAbsolute } from 'node:path';
import { type Executable, isUnder } from './executable.ts';
import { mayWrite, needsArguments, neverGranted } from './kinds.ts';
import type { Sight } from './prints.ts';

/** Programs that run unasked. */
export interface Entry {
  /** A bare name, or an absolute path with `*` and `**`. */
  readonly pattern: string;
  readonly args?: readonly string[] | undefined;
  readonly argPattern?: string | undefined;
  readonly sha256?: string | undefined;
  /** Only in this folder: an "always" has one. */
  readonly cwd?: string | undefined;
}

/** An entry and where it is from: a place in the config, or `approvals allowlist 7`. */
export interface Placed extends Entry {
  readonly place: string;
  readonly id?: number;
  /** A line to the letter: what a program is given to read is no part of it. */
  readonly isLine?: boolean;
}

/** Why no entry lets this command run; or the entry that does. */
export type Match = { readonly by: Placed } | { readonly why: string };

/** Real paths, and the files as this judgement sees them. */
export interface Place {
  readonly workspace: string;
  readonly cwd: string;
  readonly sight: Sight;
  /** Whether it reads what a pipe, a here-document or a redirection gives it. */
  readonly hasInput: boolean;
}

export async function matchEntry(executable: Executable, args: readonly string[], entries: readonly Placed[], at: Place): Promise<Match> {
  const never = neverGranted(executable, args);
  if (never) return { why: `${never}, which no list can allow` };
  let why = 'it is not on the allowlist';
  for (const entry of entries) {
    if (!matchesPath(entry.pattern, executable)) continue;
    const refusal = await refusalOf(entry, executable, args, at);
    if (!refusal) return { by: entry };
    why = refusal;
  }
  return { why };
}

async function refusalOf(
  entry: Placed,
  executable: Executable,
  args: readonly string[],
  { workspace, cwd, sight, hasInput }: Place,
): Promise<string | undefined> {
  if (entry.cwd !== undefined && entry.cwd !== cwd) return 'it was allowed in another folder';
  if (entry.args && (entry.args.length !== args.length || entry.args.some((arg, i) => arg !== args[i])))
    return 'its entry on the allowlist names other arguments';
  if (entry.argPattern !== undefined && !(await matchesArgs(entry.argPattern, args))) return `its arguments do not fit ${entry.place}`;
  if (hasInput && (entry.isLine || entry.cwd !== undefined) && mayWrite(executable, args))
    return `what it is given to read may tell it what to do, and ${entry.place} does not cover that`;
  const needs = !entry.args && entry.argPattern === undefined ? needsArguments(executable, args) : undefined;
  if (needs) return `${needs}: an entry needs args or argPattern (${entry.place} has neither)`;
  if (entry.sha256 === undefined)
    return [executable.real, executable.found].some((path) => isUnder(workspace, path))
      ? 'it lies in the workspace, where the agent can change it: its entry needs its sha256'
      : undefined;
  return (await sight.sha256(executable.found)) === entry.sha256 ? undefined : 'the file is not what it was when it was allowed';
}

/** By the real path; by the path it was called by only where that has a name of its own, as programs that are several in one have. */
function matchesPath(pattern: string, { found, real, isByName }: Executable): boolean {
  if (!pattern.includes('/')) return isByName && basename(found) === pattern;
  const path = pattern.replace(/^~(?=\/)/, homedir());
  if (!isAbsolute(path)) return false;
  const glob = globbed(path);
  return basename(found) === basename(real) ? glob.test(real) : glob.test(found);
}

function globbed(path: string): RegExp {
  const parts = path
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]*' : part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&')));
  return new RegExp(`^${parts.join('')}$`, 's');
}

/** Arguments with blanks are quoted as JSON, so that two lists never look the same. */
export const joined = (args: readonly string[]) => args.map((arg) => (/^[^\s"]+$/.test(arg) ? arg : JSON.stringify(arg))).join(' ');

async function matchesArgs(pattern: string, args: readonly string[]): Promise<boolean> {
  const { RE2JS } = await import('re2js'); // runs in linear time, whatever the pattern
  return RE2JS.compile(pattern, RE2JS.DOTALL).matches(joined(args));
}
