import { basename } from 'node:path';
import type { Executable } from './executable.ts';
import { executors, runnerFamily, runners, turns } from './programs.ts';

/** `python3.11` → `python`. */
const stem = (name: string) => name.replace(/\.exe$/i, '').replace(/-?\d+(\.\d+)*[a-z]?$/, '');

/** `vim.basic`, `ld-linux-x86-64.so.2`, `x86_64-linux-gnu-gcc-12`. */
const head = (name: string) =>
  /^ld(-linux.*)?\.so/.test(name) ? 'ld.so' : (name.replace(/^\w+-(\w+-)?(linux|w64|apple|none)-\w+-/, '').split('.')[0] ?? name);

const named = (names: ReadonlySet<string>, name: string, family?: RegExp) =>
  [name, stem(name), head(name), stem(head(name))].some((each) => names.has(each) || family?.test(each));

/** By the name it was called and by the file behind it. */
const namesOf = ({ found, real }: Executable) => [...new Set([basename(found), basename(real)])];

/** Why this program can never be granted. */
export function neverGranted(executable: Executable, args: readonly string[]): string | undefined {
  const called = namesOf(executable);
  for (const { what, names, family } of executors) {
    // busybox behind a link is what the link names.
    const name = called.find((each, i) => named(names, each, family) && !(i === 1 && isMultiCall(executable.real)));
    if (name) return `"${name}" is ${what}`;
  }
  return isTurned('starts', called, args)
    ? `"${called[0]}" is given an argument by which it starts, changes or removes something`
    : undefined;
}

const isTurned = (to: 'starts' | 'writes', called: readonly string[], args: readonly string[]) =>
  turns.some(
    (turn) =>
      turn.to === to &&
      called.some((name) => named(turn.names, name)) &&
      (typeof turn.by === 'function' ? turn.by(args) : args.some((arg) => (turn.by as RegExp).test(arg))),
  );

/** Why no entry without arguments allows it; undefined where one does. */
export function needsArguments(executable: Executable, args: readonly string[]): string | undefined {
  const called = namesOf(executable);
  if (called.some((name) => named(runners, name, runnerFamily))) return `"${called[0]}" does what its arguments and files say`;
  return isTurned('writes', called, args) ? `"${called[0]}" is given an argument by which it writes a file` : undefined;
}

/** Whether it is known to start programs or to write files that its arguments name. */
export const mayWrite = (executable: Executable, args: readonly string[]): boolean =>
  (neverGranted(executable, args) ?? needsArguments(executable, args)) !== undefined;

/** One file that is many programs: which one depends on the name it is called by. */
export const isMultiCall = (real: string) => /^(busybox|toybox|coreutils|uutils)\b/.test(basename(real));

/** Wrappers that can be looked through: how many of their words come before the inner command. */
export function wrapperWords(words: readonly string[]): number | undefined {
  const [name = '', first = '', second = ''] = words;
  if (/^(?:(?:\/usr)?\/bin\/)?timeout$/.test(name) && /^\d+(\.\d+)?[smhd]?$/.test(first) && words.length > 2) return 2;
  if (!/^(?:(?:\/usr)?\/bin\/)?nice$/.test(name)) return undefined;
  if (first === '-n' && /^-?\d+$/.test(second) && words.length > 3) return 3;
  return words.length > 1 && !first.startsWith('-') ? 1 : undefined;
}

/** What only means something inside a shell. */
export const shellBuiltins = new Set(
  `. : alias bg bind break builtin caller command compgen complete compopt continue declare dirs disown enable eval exec exit
  export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend times trap type
  typeset ulimit umask unalias unset wait coproc cd`.split(/\s+/),
);
