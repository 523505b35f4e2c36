import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isSystem, isUnder } from './executable.ts';
import type { PlannedCommand, PlannedStep } from './plan.ts';
import type { Sight } from './prints.ts';

type Unbound = Omit<PlannedStep, 'prints'>;

export interface Bound {
  readonly steps: readonly PlannedStep[];
  /** Of each command in order: why what it runs may not be what was judged. */
  readonly overwritten: readonly (string | undefined)[];
}

/** Gives each step the files it has to find as they were judged, and finds the commands of which the line itself changes them. */
export async function bind(steps: readonly Unbound[], sight: Sight): Promise<Bound> {
  const [bound, overwritten]: [PlannedStep[], (string | undefined)[]] = [[], []];
  const earlier: Writer[] = [];
  for (const step of steps) {
    const beside = await Promise.all(step.commands.map((command) => writerOf(command, step.cwd)));
    const kept = new Set<string>();
    for (const command of step.commands) {
      const { files, why } = await boundOf(command, earlier, beside);
      overwritten.push(why);
      for (const file of files) kept.add(file);
    }
    bound.push({ ...step, prints: await sight.prints(kept) });
    earlier.push(...beside);
  }
  return { steps: bound, overwritten };
}

/**
 * A command that lists allow finds its programs unchanged, whatever ran before. One that a person allows was shown to him together
 * with what comes before it: files that an earlier part may make or change were approved with it, as in `make && ./x`.
 */
async function boundOf(command: PlannedCommand, earlier: readonly Writer[], beside: readonly Writer[]) {
  const files: string[] = [];
  let why: string | undefined;
  for (const file of command.isAllowed ? command.programs : [...command.programs, ...command.scripts]) {
    const spot = await spotOf(file);
    const by = [...earlier, ...beside].find((writer) => writes(writer, command, spot)) ?? beside.find((one) => races(one, command, spot));
    if (by && command.programs.includes(file)) why ??= `"${basename(file)}" may be changed by "${short(by.command.text)}" before it runs`;
    const isApprovedWithIt = !command.isAllowed && !isSystem(spot.real) && earlier.some(({ isOpen }) => isOpen);
    if (!by && !isApprovedWithIt) files.push(file);
  }
  return { files, why };
}

/** A command and where it is known to write. */
interface Writer {
  readonly command: PlannedCommand;
  readonly redirected: readonly Spot[];
  /** Wherever its arguments lead, if it is one that writes. */
  readonly named: readonly Spot[];
  /** Whether it may write elsewhere too. */
  readonly isOpen: boolean;
}

const writes = ({ command, redirected, named }: Writer, reader: PlannedCommand, file: Spot) =>
  [...redirected, ...(command === reader ? [] : named)].some((target) => leadsTo(target, file));

/** In a pipe the two run at once: no comparison before the start sees what is written. Where either is asked for, the line is. */
const races = ({ command }: Writer, reader: PlannedCommand, file: Spot) =>
  command !== reader && command.mayWrite && command.isAllowed && reader.isAllowed && !isSystem(file.real);

async function writerOf(command: PlannedCommand, cwd: string): Promise<Writer> {
  const { argv, redirections, programs, mayWrite } = command;
  const spots = (paths: readonly string[]) => Promise.all(paths.map((path) => spotOf(resolve(cwd, path))));
  const redirected = await spots(redirections.flatMap((one) => (one.kind === 'file' && one.mode !== 'read' ? one.path : [])));
  const named = mayWrite ? await spots(argv.slice(1).flatMap(pathsIn)) : [];
  return { command, redirected, named, isOpen: mayWrite || programs.some((path) => !isSystem(path)) };
}

/** `x`, `of=x`, `--output=x`, `-ox`. */
const pathsIn = (arg: string): readonly string[] =>
  [arg, arg.slice(arg.indexOf('=') + 1), ...(/^-[^-]/.test(arg) ? [arg.slice(2)] : [])].filter(Boolean);

/** A place by its real path and, since a file has many names, by its number. */
interface Spot {
  readonly real: string;
  readonly inode?: string | undefined;
}

async function spotOf(path: string): Promise<Spot> {
  const beside = async () => join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
  const real = await realpath(path).catch(beside);
  return { real, inode: await inodeOf(real) };
}

export const inodeOf = (path: string): Promise<string | undefined> =>
  stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  );

/** To the file, or to a folder that holds it. */
const leadsTo = (target: Spot, file: Spot) =>
  isUnder(target.real, file.real) || (target.inode !== undefined && target.inode === file.inode);

const short = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
