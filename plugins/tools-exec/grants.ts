import { basename } from 'node:path';
import { KernelError, type Run } from '../../kernel/index.ts';
import { type AllowlistEntry, Approvals } from '../approvals/contract.ts';
import { type Entry, joined } from './allowlist.ts';
import { isSystem, resolveExecutable } from './executable.ts';
import { needsArguments, neverGranted } from './kinds.ts';
import type { Grant } from './plan.ts';
import { sha256 } from './prints.ts';

/** The narrow entries of an "always": each program, with exactly these arguments, and the content that was judged where it may change. */
export function keepGrants(grants: readonly Grant[], run: Run): { readonly adds: readonly string[]; keep(by: string): Promise<void> } {
  return {
    adds: grants.map(({ executable, args, cwd }) => `${`${executable} ${joined(args)}`.trimEnd()} in ${cwd}`),
    async keep(by) {
      for (const { executable, real, args, cwd, sha256: content } of grants) {
        const pattern = basename(executable) === basename(real) ? real : executable;
        const entry = { pattern, args, cwd, ...(content !== undefined && { sha256: content }) };
        await run.get(Approvals).allowlist.add({ agent: run.subject.agent ?? '', by, ...entry });
      }
    },
  };
}

export interface Wanted {
  readonly agent: string;
  readonly program: string;
  readonly args?: readonly string[];
  readonly argPattern?: string;
  readonly cwd: string;
  readonly path: string;
}

/** An entry that a person adds by hand: a program that is there, that a list can allow, by its real path. */
export async function addEntry({ agent, program, args, argPattern, cwd, path }: Wanted, by: string, run: Run): Promise<AllowlistEntry> {
  const rules = { ...(args && { args }), ...(argPattern !== undefined && { argPattern }) };
  const add = (entry: Entry) => run.get(Approvals).allowlist.add({ ...(entry as AllowlistEntry), agent, by });
  if (argPattern !== undefined) await checked(argPattern);
  if (program.includes('*')) {
    if (!program.startsWith('/') && !program.startsWith('~/')) throw wrong(`the pattern "${program}" has to be an absolute path`);
    return add({ pattern: program, ...rules });
  }
  const executable = await resolveExecutable(program.replace(/^~(?=\/)/, process.env['HOME'] ?? '~'), cwd, path);
  if (!executable) throw wrong(`there is no program "${program}" in PATH; give its absolute path`);
  const never = neverGranted(executable, args ?? []);
  if (never)
    throw new KernelError(
      'EXEC_UNGRANTABLE',
      `${never}, which no list can allow: it runs whatever it is given. Approve it each time, or use a sandbox`,
    );
  const needs = !args && argPattern === undefined ? needsArguments(executable, []) : undefined;
  if (needs) throw new KernelError('EXEC_UNGRANTABLE', `${needs}; add it with its arguments, or with --args PATTERN`);
  const pattern = basename(executable.found) === basename(executable.real) ? executable.real : executable.found;
  return add({ pattern, ...rules, ...(!isSystem(executable.real) && { sha256: await sha256(executable.real) }) });
}

async function checked(pattern: string) {
  const { RE2JS } = await import('re2js');
  try {
    RE2JS.compile(pattern);
  } catch (cause) {
    throw new KernelError('EXEC_ARGUMENTS', `the argument pattern "${pattern}" is no regular expression (RE2)`, { cause });
  }
}

const wrong = (message: string) => new KernelError('EXEC_ARGUMENTS', message);
