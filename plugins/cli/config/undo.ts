import { KernelError } from '../../../kernel/index.ts';
import { misused, type RunCommand } from '../contract.ts';
import { readArguments } from './arguments.ts';
import { commit } from './commit.ts';
import { numberOf } from './diff.ts';
import { readText } from './files.ts';
import { type Entry, type History, openHistory } from './history.ts';
import { mainFile, openConfig } from './opened.ts';
import { revert } from './revert.ts';

/** `instar config undo [N]`: takes one change back and keeps those made since, or refuses where they touch it. Undone by a further one. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = readArguments(argv, ['json', 'dry-run', 'show-secrets']);
  const [number, ...more] = positionals;
  if (more.length) throw misused('undo takes one number of a change');
  const history = historyOf(host);
  const entry = number === undefined ? newest(history) : history.get(numberOf(number));
  const { id, file, before } = entry;
  if (entry.kind === 'seen')
    throw new KernelError('CONFIG_UNDO', `change ${id} is where the history of ${file} begins; nothing is before it`);
  const now = readText(file);
  const after = now === entry.after ? before : await without(entry, now);
  return commit({ file, before: now, after, what: `undo ${id} (${entry.what})` }, host, history, values);
};

/** A config that does not parse is what an undo is needed for. */
function historyOf(host: Parameters<RunCommand>[1]): History {
  try {
    return openConfig(host).history;
  } catch {
    const history = openHistory(host.home);
    for (const file of new Set([mainFile(host), ...history.entries().map((entry) => entry.file)])) history.notice(file, readText(file));
    return history;
  }
}

/** What somebody did by hand is taken back only by its number. */
function newest(history: History): Entry {
  const entry = history.entries().findLast(({ kind }) => kind !== 'seen');
  if (!entry) throw new KernelError('CONFIG_UNDO', 'the history has no change to take back');
  if (entry.kind === 'ours') return entry;
  const ours = history.entries().findLast(({ kind }) => kind === 'ours');
  const other = ours ? `, "undo ${ours.id}" the last one of ours (${ours.what})` : '';
  throw new KernelError(
    'CONFIG_UNDO',
    `change ${entry.id} of ${entry.file} was made by hand: "instar config undo ${entry.id}" takes it back${other}`,
  );
}

/** The text less what this change did. */
async function without({ id, file, before = '', after = '' }: Entry, now: string | undefined): Promise<string> {
  const text = now === undefined ? undefined : await revert({ before, after, now });
  if (text !== undefined) return text;
  const what = `change ${id} cannot be taken back alone, for the same lines of ${file} were changed since`;
  throw new KernelError('CONFIG_UNDO', `${what}; "instar config diff ${id}" shows it`);
}
