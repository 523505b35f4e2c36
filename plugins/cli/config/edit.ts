import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { isCoded, KernelError } from '../../../kernel/index.ts';
import { type CommandHost, misused, type RunCommand } from '../contract.ts';
import { errorLine } from '../exit.ts';
import { readArguments } from './arguments.ts';
import { commit, type CommitOptions, unchanged } from './commit.ts';
import { readText } from './files.ts';
import { type History, openHistory } from './history.ts';
import { mainFile, openConfig } from './opened.ts';

/** `instar config edit`: a copy in `$EDITOR`; what is saved is checked like any edit, then put in place. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = readArguments(argv, ['json', 'dry-run', 'show-secrets'], ['file']);
  if (positionals.length) throw misused('edit takes no path; "config set" changes one value');
  const file = typeof values['file'] === 'string' ? resolve(values['file']) : mainFile(host);
  const { history, files } = filesOf(host);
  if (!files.includes(file)) throw new KernelError('CONFIG_EDIT', `${file} is no file of this config; it has ${files.join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'instar-edit-')); // 0700
  const copy = join(folder, basename(file));
  const before = readText(file);
  const begin = before ?? '{\n}\n';
  writeFileSync(copy, begin, { mode: 0o600 });
  let isKept = false;
  try {
    return await rounds({ file, copy, before, begin }, host, history, values);
  } catch (error) {
    isKept = readFileSync(copy, 'utf8') !== begin;
    throw isKept && isCoded(error) ? kept(error, copy) : error;
  } finally {
    if (!isKept) rmSync(folder, { recursive: true });
  }
};

const kept = (cause: { code: string; message: string }, copy: string) =>
  new KernelError(cause.code, `${cause.message}; your text is kept in ${copy}`, { cause });

interface Copy {
  readonly file: string;
  readonly copy: string;
  readonly before: string | undefined;
  /** What the copy began as. */
  readonly begin: string;
}

/** Until it is right, or the person gives up: then the copy is kept, for it is their work. */
async function rounds({ file, copy, before, begin }: Copy, host: CommandHost, history: History, options: CommitOptions): Promise<number> {
  for (;;) {
    openEditor(copy, host);
    const after = readFileSync(copy, 'utf8');
    if (after === begin) return unchanged(file, 'nothing was changed', options);
    try {
      return await commit({ file, before, after, what: 'edit' }, host, history, options);
    } catch (error) {
      if (!isCoded(error)) throw error;
      if (!(await isAgain(errorLine(error)))) throw error;
    }
  }
}

async function isAgain(said: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  console.error(said);
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  return !/^n/i.test((await terminal.question('Edit again? (Y/n) ')).trim());
}

function openEditor(copy: string, { env }: CommandHost) {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', copy], { stdio: 'inherit' });
  if (status === 0) return;
  const why = error ? error.message : `it ended with ${status ?? 'a signal'}`;
  throw new KernelError(
    'CONFIG_EDITOR',
    `the editor "${editor}" failed: ${why}; set EDITOR to one that waits until you are done. Nothing was written`,
  );
}

/** A config that does not parse can be edited all the same. */
function filesOf(host: CommandHost): { readonly history: History; readonly files: readonly string[] } {
  try {
    const { tree, history } = openConfig(host);
    return { history, files: tree.sources.map(({ file }) => file) };
  } catch {
    const history = openHistory(host.home);
    return { history, files: [...new Set([mainFile(host), ...history.entries().map(({ file }) => file)])] };
  }
}
