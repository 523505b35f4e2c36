import { basename } from 'node:path';
import type { Executable } from './executable.ts';
import { neverGranted } from './kinds.ts';

/** Which arguments leave a program a filter of what is piped into it. What is not named is not allowed. */
export interface Profile {
  readonly minPositional?: number | undefined;
  readonly maxPositional?: number | undefined;
  readonly allowedFlags?: readonly string[] | undefined;
  readonly allowedValueFlags?: readonly string[] | undefined;
  readonly deniedFlags?: readonly string[] | undefined;
}

const words = (text: string) => text.split(' ');

const builtIn: Readonly<Record<string, Profile & { readonly deniedText?: RegExp }>> = {
  cut: {
    allowedFlags: words('-s -n -z --complement --only-delimited --zero-terminated'),
    allowedValueFlags: words('-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter'),
  },
  head: { allowedFlags: words('-q -z --quiet --silent --zero-terminated'), allowedValueFlags: words('-n -c --lines --bytes') },
  tail: { allowedFlags: words('-q -z --quiet --silent --zero-terminated'), allowedValueFlags: words('-n -c --lines --bytes') },
  tr: { minPositional: 1, maxPositional: 2, allowedFlags: words('-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1') },
  uniq: {
    allowedFlags: words('-c -d -D -i -u -z --count --repeated --ignore-case --unique --zero-terminated'),
    allowedValueFlags: words('-f -s -w --skip-fields --skip-chars --check-chars'),
  },
  wc: { allowedFlags: words('-c -m -l -L -w --bytes --chars --lines --max-line-length --words') },
  sort: {
    allowedFlags: words(
      '-b -c -C -d -f -g -h -i -M -n -r -R -s -u -V -z --reverse --numeric-sort --unique --ignore-case --stable --version-sort --human-numeric-sort',
    ),
    allowedValueFlags: words('-k -t --key --field-separator'),
  },
  grep: {
    minPositional: 0,
    maxPositional: 1,
    allowedFlags: words(
      '-E -F -G -P -c -h -i -l -n -o -q -s -v -w -x -z --count --extended-regexp --fixed-strings --ignore-case --invert-match --line-number --only-matching --quiet --word-regexp',
    ),
    allowedValueFlags: words('-m -A -B -C --max-count --after-context --before-context --context'),
  },
  jq: {
    minPositional: 1,
    maxPositional: 1,
    allowedFlags: words('-c -r -j -a -s -n -e -S -M -C --compact-output --raw-output --slurp --sort-keys --null-input --exit-status'),
    allowedValueFlags: words('--indent'),
    deniedText:
      /\benv\b|\$ENV|\b(include|import|input_filename|modulemeta|get_search_list|debug|halt|limit_file|\$__prog_args|\$__loc__)\b/,
  },
};

export interface SafeBins {
  readonly names: readonly string[];
  readonly trustedDirs: readonly string[];
  readonly profiles: Readonly<Record<string, Profile>>;
}

const alwaysTrusted = ['/bin', '/usr/bin'];

/** Undefined where it is safe, else why not. Only for programs that are called by their bare name. */
export function unsafe(
  executable: Executable,
  name: string,
  args: readonly string[],
  { names, trustedDirs, profiles }: SafeBins,
): string | undefined {
  if (!names.includes(name)) return 'it is not on the allowlist';
  const never = neverGranted(executable, args);
  if (never) return never;
  const folder = executable.found.slice(0, -basename(executable.found).length - 1);
  if (!executable.isByName || ![...alwaysTrusted, ...trustedDirs].includes(folder)) {
    return `safe bin "${name}" lies in ${folder}, which tools.exec.safeBinTrustedDirs does not name`;
  }
  const own = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const profile = own ?? (Object.hasOwn(builtIn, name) ? builtIn[name] : undefined);
  if (!profile) return `safe bin "${name}" has no profile; give it one in tools.exec.safeBinProfiles`;
  const strange = strangeArgument(args, profile);
  const denied = args.find((arg) => builtIn[name]?.deniedText?.test(arg));
  return (strange ?? denied) === undefined ? undefined : `safe bin "${name}" may not have the argument "${strange ?? denied}"`;
}

/** The first argument that the profile does not know, or the number of those that are no flags where that is wrong. */
function strangeArgument(args: readonly string[], profile: Profile): string | undefined {
  const { minPositional = 0, maxPositional = 0, allowedFlags = [], allowedValueFlags = [], deniedFlags = [] } = profile;
  const [flags, valued] = [allowedFlags, allowedValueFlags].map((list) => new Set(list.filter((flag) => !deniedFlags.includes(flag)))) as [
    Set<string>,
    Set<string>,
  ];
  const positional: string[] = [];
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] as string;
    if (arg === '--' || arg === '') return arg || "''";
    if (arg === '-' || !arg.startsWith('-')) {
      positional.push(arg);
      continue;
    }
    const takes = arg.startsWith('--') ? longFlag(arg, flags, valued) : shortFlags(arg, flags, valued);
    if (takes === undefined) return arg;
    if (takes && args[(i += 1)] === undefined) return arg;
  }
  if (positional.includes('-')) return '-';
  return positional.length < minPositional || positional.length > maxPositional ? (positional[maxPositional] ?? '(too few)') : undefined;
}

/** Whether the next argument is its value; undefined where it is not allowed. Abbreviated flags are not. */
function longFlag(arg: string, flags: ReadonlySet<string>, valued: ReadonlySet<string>): boolean | undefined {
  const [name = '', value] = arg.split(/=(.*)/s);
  if (valued.has(name)) return value === undefined;
  return flags.has(name) && value === undefined ? false : undefined;
}

function shortFlags(arg: string, flags: ReadonlySet<string>, valued: ReadonlySet<string>): boolean | undefined {
  // `head -20`: the old way to say -n 20.
  if (/^-\d+$/.test(arg)) return valued.has('-n') ? false : undefined;
  for (let i = 1; i < arg.length; i += 1) {
    const flag = `-${arg[i]}`;
    if (valued.has(flag)) return i === arg.length - 1;
    if (!flags.has(flag)) return undefined;
  }
  return false;
}
