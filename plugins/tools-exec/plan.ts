import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { allowance, hasInput, type Wires } from './allowance.ts';
import { bind } from './bindings.ts';
import type { Part } from './contract.ts';
import { type Executable, isSystem, isUnder, resolveExecutable } from './executable.ts';
import { mayWrite, neverGranted, shellBuiltins, wrapperWords } from './kinds.ts';
import type { SimpleCommand, Step } from './parse.ts';
import type { Prints, Sight } from './prints.ts';
import { writtenBy } from './redirection.ts';
import type { Rules } from './rules.ts';

/** Where a command is to run, and by which PATH its programs are found. */
export interface Scene {
  /** Absolute. */
  readonly cwd: string;
  /** A real path. */
  readonly workspace: string;
  readonly path: string;
  readonly sight: Sight;
}

/** A simple command whose program is known. */
export interface PlannedCommand extends SimpleCommand {
  /** `cd` into a folder of the workspace: done by us. */
  readonly folder?: string;
  readonly argv: readonly string[];
  readonly isAllowed: boolean;
  /** What is started: the program, and the wrapper around it. */
  readonly programs: readonly string[];
  /** Files that tell the program what to do. */
  readonly scripts: readonly string[];
  /** Whether it is known to start programs or to write files. */
  readonly mayWrite: boolean;
}

export interface PlannedStep extends Omit<Step, 'commands'> {
  readonly commands: readonly PlannedCommand[];
  /** Where it starts, by the `cd` before it. */
  readonly cwd: string;
  /** Files that are compared once more right before it starts: an earlier step, or somebody else, may have changed them. */
  readonly prints: Prints;
}

/** Program and arguments, to the letter. */
export interface Grant {
  readonly executable: string;
  readonly real: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Of the content that was judged, where it may change. */
  readonly sha256?: string;
}

export interface Planned {
  readonly steps: readonly PlannedStep[];
  readonly parts: readonly Part[];
  /** What we cannot do without a shell; the steps are whole only where it is empty. */
  readonly shellOnly: readonly string[];
  /** Absent where nothing can be granted. */
  readonly grants?: readonly Grant[];
}

type Unbound = Omit<PlannedStep, 'prints'>;

/** The steps with their programs looked up and judged. */
export async function plan(steps: readonly Step[], scene: Scene, rules: Rules): Promise<Planned> {
  const planned: Unbound[] = [];
  const [parts, grants, shellOnly]: [Part[], (Grant | undefined)[], Set<string>] = [[], [], new Set()];
  let cwd = scene.cwd;
  for (const step of steps) {
    const at = { ...scene, cwd };
    const commands: PlannedCommand[] = [];
    for (const [i, command] of step.commands.entries()) {
      const isSure = step.when === 'always' || (step.when === 'and' && planned.every((before) => before.commands[0]?.folder));
      const one = command.words[0] === 'cd' ? await planFolder(command, step, isSure, at) : await planCommand(command, i > 0, at, rules);
      parts.push(one.part);
      if (one.grant !== null) grants.push(one.grant);
      if (one.command) commands.push(one.command);
      else shellOnly.add(one.part.why);
    }
    planned.push({ ...step, commands, cwd });
    cwd = commands[0]?.folder ?? cwd;
  }
  if (shellOnly.size > 0) return { steps: [], parts, shellOnly: [...shellOnly] };
  const bound = await bind(planned, scene.sight);
  const found = parts.map((part, i) => refused(part, bound.overwritten[i]));
  const isSure = grants.every((grant) => grant !== undefined) && !bound.overwritten.some(Boolean);
  return { steps: bound.steps, parts: found, shellOnly: [], ...(isSure && { grants }) };
}

const refused = (part: Part, why: string | undefined): Part =>
  why === undefined ? part : { ...part, isAllowed: false, why: part.isAllowed ? why : `${part.why}, and ${why}` };

interface PlannedOne {
  readonly command?: PlannedCommand;
  readonly part: Part;
  /** null: it needs none. Undefined: none can be given. */
  readonly grant: Grant | null | undefined;
}

/** `cd folder &&` and `cd folder;`, which models begin with: the only builtin that we do ourselves, where it is sure to happen. */
async function planFolder(
  command: SimpleCommand,
  { isNegated, commands }: Step,
  isSure: boolean,
  { cwd, workspace }: Scene,
): Promise<PlannedOne> {
  const { text, words, redirections } = command;
  const no = (why: string) => ({ part: { text, isAllowed: false, why }, grant: undefined });
  const isPlain = words.length === 2 && redirections.length === 0 && commands.length === 1 && !isNegated && isSure;
  const target = words[1] ?? '';
  if (!isPlain || target === '-' || target === '') return no('"cd" with anything but one folder needs a shell');
  const folder = await realpath(resolve(cwd, target)).catch(() => undefined);
  if (!folder || !isUnder(workspace, folder)) return no(`"cd" leads to no folder of the workspace`);
  const nothing = { argv: [], programs: [], scripts: [], mayWrite: false, isAllowed: true };
  return { command: { ...command, ...nothing, folder }, part: { text, isAllowed: true, why: 'a folder of the workspace' }, grant: null };
}

async function planCommand(command: SimpleCommand, isPiped: boolean, scene: Scene, rules: Rules): Promise<PlannedOne> {
  const { text, words } = command;
  const no = (why: string) => ({ part: { text, isAllowed: false, why }, grant: undefined });
  const outer = wrapperWords(words) ?? 0;
  const [name = '', ...args] = words.slice(outer);
  const wrapper = outer > 0 ? await resolveExecutable(words[0] ?? '', scene.cwd, '/usr/bin:/bin') : undefined;
  if (outer > 0 && !wrapper) return no(`"${words[0]}" is not in /usr/bin`);
  if (shellBuiltins.has(name)) return no(`"${name}" is a command of the shell itself`);
  if (!/^[\x21-\x7e ]+$/.test(name)) return no('its name has letters that look like others');
  const executable = await resolveExecutable(name, scene.cwd, scene.path);
  if (!executable) return no(`there is no program "${name}"`);
  const inner = [executable.found, ...args];
  const wires = { redirections: command.redirections, isPiped };
  const { why, isAllowed } = await allowance(executable, name, args, wires, scene, rules);
  return {
    command: {
      ...command,
      argv: wrapper ? [wrapper.found, ...words.slice(1, outer), ...inner] : inner,
      isAllowed,
      programs: [...(wrapper ? [wrapper.found] : []), executable.found],
      scripts: scriptsOf(executable, args, readsOf(command), scene.cwd),
      mayWrite: mayWrite(executable, args),
    },
    part: { text, executable: executable.real, isAllowed, why },
    grant: isAllowed ? null : await grantOf(executable, args, wires, scene),
  };
}

/** It names the program and its arguments, so it can stand for no more than these: not for what is read, where that tells what to do, nor for what is written. */
async function grantOf(executable: Executable, args: readonly string[], wires: Wires, { cwd, sight }: Scene): Promise<Grant | undefined> {
  if (neverGranted(executable, args) || writtenBy(wires.redirections) !== undefined) return undefined;
  if (hasInput(wires) && mayWrite(executable, args)) return undefined;
  const { found, real } = executable;
  if (isSystem(real)) return { executable: found, real, args, cwd };
  const sha256 = await sight.sha256(found);
  return sha256 === undefined ? undefined : { executable: found, real, args, cwd, sha256 };
}

const readsOf = ({ redirections }: SimpleCommand) =>
  redirections.flatMap((one) => (one.kind === 'file' && one.mode === 'read' ? one.path : []));

/** The files that tell shells, interpreters and the like what to do; of other programs, arguments are data. */
export function scriptsOf(
  executable: Executable | undefined,
  args: readonly (string | undefined)[],
  reads: readonly string[],
  cwd: string,
): readonly string[] {
  const known = args.filter((arg) => arg !== undefined);
  if (executable && !mayWrite(executable, known)) return [];
  return [...known, ...reads].filter((arg) => !arg.startsWith('-')).map((arg) => resolve(cwd, arg));
}
