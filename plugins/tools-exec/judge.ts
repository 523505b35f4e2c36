import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { matchEntry, type Placed } from './allowlist.ts';
import type { Judgement, Part } from './contract.ts';
import { type Executable, fingerprint, isUnder, resolveExecutable } from './executable.ts';
import { needsArguments, neverGranted, shellBuiltins, wrapperWords } from './kinds.ts';
import { type Mention, type Parsed, parseCommand, type Redirection, type SimpleCommand, type Step } from './parse.ts';
import type { Rules } from './rules.ts';
import { unsafe } from './safe-bins.ts';

/** What is to be judged, and where it would run. */
export interface Case {
  /** As the model wrote it. */
  readonly command: string;
  /** All that is shown and, by a shell, executed: folder and variables are part of it. */
  readonly script: string;
  /** Variables that the model sets: only a shell path takes them. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly workspace: string;
  readonly path: string;
  readonly needsShell?: string | undefined;
}

/** A simple command whose program is known. */
export interface PlannedCommand extends SimpleCommand {
  /** `cd` into a folder of the workspace: done by us. */
  readonly folder?: string;
  readonly argv: readonly string[];
  readonly redirections: readonly Redirection[];
}
export interface PlannedStep extends Omit<Step, 'commands'> {
  readonly commands: readonly PlannedCommand[];
  /** Where it starts, by the `cd` before it. */
  readonly cwd: string;
}

/** A judgement together with what is executed on it. */
export interface Judged extends Judgement {
  readonly plan?: readonly PlannedStep[];
  /** Entries by which "always" would let it pass from then on; absent where nothing can be granted. */
  readonly grants?: readonly Grant[];
  /** Files that decide what happens, as they were when it was judged. */
  readonly bound: ReadonlyMap<string, string>;
}

/** Program and arguments, to the letter. */
export interface Grant {
  readonly executable: string;
  readonly real: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

export async function judge(given: Case, rules: Rules, sandboxed: boolean): Promise<Judged> {
  const host = hostOf(rules, sandboxed);
  const { security, ask, places } = rules;
  const base = { host, security, ask, text: given.script, parts: [], shellOnly: [], bound: new Map<string, string>() } as const;
  if (host === 'sandbox') {
    if (!sandboxed)
      return { ...base, kind: 'deny', runs: 'shell', why: 'tools.exec.host is "sandbox", and this session has none', rule: places.host };
    return { ...base, kind: 'allow', runs: 'shell', why: 'it runs in the sandbox', rule: places.host };
  }
  if (host === 'node')
    return { ...base, kind: 'deny', runs: 'shell', why: 'tools.exec.host is "node", and no node is connected', rule: places.host };
  if (security === 'deny') return { ...base, kind: 'deny', runs: 'shell', why: 'tools.exec.security is "deny"', rule: places.security };
  if (security === 'full' && ask !== 'always')
    return { ...base, kind: 'allow', runs: 'shell', why: 'tools.exec.security is "full"', rule: places.security };
  return byText(given, rules, base);
}

/** A sandboxed session never leaves its sandbox: confinement only grows. */
function hostOf({ host }: Rules, sandboxed: boolean): Judgement['host'] {
  if (sandboxed) return 'sandbox';
  return host === 'auto' ? 'gateway' : host;
}

type Base = Pick<Judged, 'host' | 'security' | 'ask' | 'text'>;

async function byText(given: Case, rules: Rules, base: Base): Promise<Judged> {
  const parsed = await parseCommand(given.command);
  const shellOnly = [
    ...parsed.shellOnly,
    ...(given.needsShell ? [given.needsShell] : []),
    ...(Object.keys(given.env).length > 0 ? ['variables of its own'] : []),
  ];
  const planned = shellOnly.length === 0 && parsed.steps ? await plan(parsed.steps, given, rules) : undefined;
  const parts = planned?.parts ?? (await mentionParts(parsed, given, rules));
  const steps = planned && planned.shellOnly.length === 0 ? planned.steps : undefined;
  const bound = await boundFiles(
    steps ? steps.flatMap(toldByStep) : parsed.mentions.map((mention) => ({ ...mention, cwd: given.cwd })),
    given.path,
  );
  const grants = planned?.grants;
  const common = {
    ...base,
    parts,
    shellOnly: [...shellOnly, ...(planned?.shellOnly ?? [])],
    bound,
    runs: steps ? 'plan' : 'shell',
    ...(steps && { plan: steps }),
  } as const;
  const miss = parts.find(({ isAllowed }) => !isAllowed);
  const isListed = steps !== undefined && parts.length > 0 && miss === undefined;
  const why = isListed
    ? 'every part is allowed'
    : miss
      ? `${short(miss.text)}: ${miss.why}`
      : `it needs a shell for ${common.shellOnly.join(', ')}`;
  const always = { ...(steps && grants && grants.length > 0 && { grants }) };
  if (rules.ask === 'always') return { ...common, kind: 'ask', why: `tools.exec.ask is "always"`, rule: rules.places.ask };
  if (isListed) return { ...common, kind: 'allow', why, rule: parts[0]?.why ?? rules.places.security };
  if (rules.ask === 'on-miss') return { ...common, ...always, kind: 'ask', why, rule: rules.places.security };
  return { ...common, kind: 'deny', why: `${why}, and tools.exec.ask is "off"`, rule: rules.places.ask };
}

interface Planned {
  readonly steps: readonly PlannedStep[];
  readonly parts: readonly Part[];
  readonly shellOnly: readonly string[];
  readonly grants?: readonly Grant[];
}

async function plan(steps: readonly Step[], given: Case, rules: Rules): Promise<Planned> {
  const planned: PlannedStep[] = [];
  const [parts, grants, shellOnly]: [Part[], (Grant | undefined)[], Set<string>] = [[], [], new Set()];
  let cwd = given.cwd;
  for (const step of steps) {
    const at = { ...given, cwd };
    const commands: PlannedCommand[] = [];
    for (const command of step.commands) {
      const isSure = step.when === 'always' || (step.when === 'and' && planned.every((before) => before.commands[0]?.folder));
      const one = command.words[0] === 'cd' ? await planFolder(command, step, isSure, at) : await planCommand(command, at, rules);
      parts.push(one.part);
      if (one.grant !== null) grants.push(one.grant);
      if (one.command) commands.push(one.command);
      else shellOnly.add(one.part.why);
    }
    planned.push({ ...step, commands, cwd });
    cwd = commands[0]?.folder ?? cwd;
  }
  const isSure = grants.every((grant) => grant !== undefined);
  return { steps: planned, parts, shellOnly: [...shellOnly], ...(isSure && { grants }) };
}

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
  { cwd, workspace }: Case,
): Promise<PlannedOne> {
  const { text, words, redirections } = command;
  const no = (why: string) => ({ part: { text, isAllowed: false, why }, grant: undefined });
  const isPlain = words.length === 2 && redirections.length === 0 && commands.length === 1 && !isNegated && isSure;
  const target = words[1] ?? '';
  if (!isPlain || target === '-' || target === '') return no('"cd" with anything but one folder needs a shell');
  const [folder, root] = await Promise.all([realpath(resolve(cwd, target)), realpath(workspace)]).catch(() => []);
  if (!folder || !root || !isUnder(root, folder)) return no(`"cd" leads to no folder of the workspace`);
  return { command: { ...command, folder, argv: [] }, part: { text, isAllowed: true, why: 'a folder of the workspace' }, grant: null };
}

async function planCommand(command: SimpleCommand, given: Case, rules: Rules): Promise<PlannedOne> {
  const { text, words } = command;
  const no = (why: string, executable?: string) => ({
    part: { text, ...(executable && { executable }), isAllowed: false, why },
    grant: undefined,
  });
  const outer = wrapperWords(words) ?? 0;
  const [name = '', ...args] = words.slice(outer);
  const wrapper = outer > 0 ? await resolveExecutable(words[0] ?? '', given.cwd, '/usr/bin:/bin') : undefined;
  if (outer > 0 && !wrapper) return no(`"${words[0]}" is not in /usr/bin`);
  if (shellBuiltins.has(name)) return no(`"${name}" is a command of the shell itself`);
  if (!/^[\x21-\x7e ]+$/.test(name)) return no('its name has letters that look like others');
  const executable = await resolveExecutable(name, given.cwd, given.path);
  if (!executable) return no(`there is no program "${name}"`);
  const argv = wrapper ? [wrapper.found, ...words.slice(1, outer), executable.found, ...args] : [executable.found, ...args];
  const { why, isAllowed } = await allowance(executable, name, args, given, rules);
  return {
    command: { ...command, argv },
    part: { text, executable: executable.real, isAllowed, why },
    grant: isAllowed ? null : grantOf(executable, args, given.cwd),
  };
}

const grantOf = ({ found, real, isByName }: Executable, args: readonly string[], cwd: string): Grant | undefined =>
  neverGranted({ found, real, isByName }, args) ? undefined : { executable: found, real, args, cwd };

/** Safe filter, entry of a list, or exact line: what lets this program run with these arguments; else why nothing does. */
async function allowance(executable: Executable, name: string, args: readonly string[], given: Case, rules: Rules) {
  const never = neverGranted(executable, args);
  if (never) return { isAllowed: false, why: `${never}, which no list can allow` };
  const danger = unsafe(executable, name, args, rules.safeBins);
  if (!danger) return { isAllowed: true, why: 'a safe bin' };
  const workspace = await realpath(given.workspace).catch(() => given.workspace);
  const entries = [...rules.entries, ...(await linesAsEntries(rules, name))];
  const match = await matchEntry(executable, args, entries, { workspace, cwd: given.cwd });
  if ('by' in match) return { isAllowed: true, why: match.by.place };
  return { isAllowed: false, why: rules.safeBins.names.includes(name) ? danger : match.why };
}

/** `tools.exec.allow`: each simple command of a line, to the letter. */
async function linesAsEntries({ lines }: Rules, name: string): Promise<readonly Placed[]> {
  const near = lines.filter(({ line }) => line.includes(name));
  const parsed = await Promise.all(near.map(async ({ line, place }) => ({ place, steps: (await parseCommand(line)).steps ?? [] })));
  return parsed.flatMap(({ place, steps }) =>
    steps
      .flatMap(({ commands }) => commands.map(({ words: [pattern = '', ...args] }) => ({ pattern, args, place })))
      .filter(({ pattern }) => pattern === name),
  );
}

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** What a shell would run, as far as it can be told: for the person who is asked, never for an allowance. */
async function mentionParts({ mentions }: Parsed, given: Case, rules: Rules): Promise<readonly Part[]> {
  return Promise.all(
    mentions.slice(0, 100).map(async ({ text, words }): Promise<Part> => {
      const [name, ...args] = words;
      if (name === undefined) return { text, isAllowed: false, why: 'which program it is can only be told by running it' };
      if (shellBuiltins.has(name)) return { text, isAllowed: false, why: `"${name}" is a command of the shell itself` };
      const executable = await resolveExecutable(name, given.cwd, given.path);
      if (!executable) return { text, isAllowed: false, why: `there is no program "${name}"` };
      const known = args.filter((arg) => arg !== undefined);
      const found =
        known.length === args.length
          ? await allowance(executable, name, known, given, rules)
          : { isAllowed: false, why: 'its arguments can only be told by running it' };
      const never = neverGranted(executable, known);
      return { text, executable: executable.real, ...found, ...(never && { isAllowed: false, why: never }) };
    }),
  );
}

const toldByStep = ({ commands, cwd }: PlannedStep) =>
  commands
    .filter(({ folder }) => folder === undefined)
    .map(({ argv, redirections }) => ({
      words: argv,
      reads: redirections.flatMap((one) => (one.kind === 'file' && one.mode === 'read' ? one.path : [])),
      cwd,
    }));

/** Every program that is named, and the files that tell shells, interpreters and the like what to do. */
async function boundFiles(
  told: readonly (Omit<Mention, 'text'> & { readonly cwd: string })[],
  path: string,
): Promise<ReadonlyMap<string, string>> {
  const files = await Promise.all(
    told.map(async ({ words: [name, ...args], reads, cwd }) => {
      const executable = name === undefined ? undefined : await resolveExecutable(name, cwd, path);
      const isData = executable && !neverGranted(executable, []) && !needsArguments(executable);
      const scripts = isData
        ? []
        : [...args, ...reads].flatMap((arg) => (arg === undefined || arg.startsWith('-') ? [] : [resolve(cwd, arg)]));
      return [...(executable ? [executable.found] : []), ...scripts];
    }),
  );
  return boundBy(files.flat().slice(0, 200));
}

const boundBy = async (files: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  new Map(await Promise.all([...new Set(files)].map(async (file) => [file, await fingerprint(file)] as const)));

/** Throws nothing: the name of the first file that is not what it was; undefined where all are. */
export async function changedSince(bound: ReadonlyMap<string, string>): Promise<string | undefined> {
  for (const [file, before] of bound) if ((await fingerprint(file)) !== before) return file;
  return undefined;
}
