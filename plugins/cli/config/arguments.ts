import { parseArgs } from 'node:util';

/** The options of one verb, and what else it was given; `-1` and `-Infinity` are values, not options. */
export function readArguments<const Flag extends string>(argv: readonly string[], flags: readonly Flag[], names: readonly string[] = []) {
  const isValue = (arg: string) => !arg.startsWith('-') || /^-[\d.IN+]/.test(arg);
  const end = argv.indexOf('--');
  const before = end < 0 ? argv : argv.slice(0, end);
  const options = Object.fromEntries([
    ...flags.map((flag) => [flag, { type: 'boolean' as const }]),
    ...names.map((name) => [name, { type: 'string' as const }]),
  ]);
  const takesNext = (i: number) => names.some((name) => before[i - 1] === `--${name}`);
  const numbers = before.filter((arg, i) => isValue(arg) && !takesNext(i));
  const rest = before.filter((arg, i) => !isValue(arg) || takesNext(i));
  const { values } = parseArgs({ args: [...rest], options, allowPositionals: false });
  const given = values as Readonly<Partial<Record<Flag, boolean>>> & Readonly<Record<string, string | boolean | undefined>>;
  return { values: given, positionals: [...numbers, ...(end < 0 ? [] : argv.slice(end + 1))] };
}
