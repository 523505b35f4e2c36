import { matchEntry, type Placed } from './allowlist.ts';
import type { Executable } from './executable.ts';
import { neverGranted, wrapperWords } from './kinds.ts';
import { parseCommand } from './parse.ts';
import { isInput, type Redirection, writtenBy } from './redirection.ts';
import type { Sight } from './prints.ts';
import type { Rules } from './rules.ts';
import { unsafe } from './safe-bins.ts';

export interface Allowance {
  readonly isAllowed: boolean;
  readonly why: string;
}

/** Where a command would run, and the files as this judgement sees them. */
export interface Here {
  /** A real path. */
  readonly workspace: string;
  readonly cwd: string;
  readonly sight: Sight;
}

/** What it is wired to. */
export interface Wires {
  readonly redirections: readonly Redirection[];
  readonly isPiped: boolean;
}

export const hasInput = ({ redirections, isPiped }: Wires): boolean => isPiped || redirections.some(isInput);

/** Safe filter, entry of a list, or exact line: what lets this program run with these arguments; else why nothing does. */
export async function allowance(
  executable: Executable,
  name: string,
  args: readonly string[],
  wires: Wires,
  { cwd, sight, workspace }: Here,
  rules: Rules,
): Promise<Allowance> {
  const no = (why: string) => ({ isAllowed: false, why });
  const never = neverGranted(executable, args);
  if (never) return no(`${never}, which no list can allow`);
  const written = writtenBy(wires.redirections);
  if (written !== undefined && !rules.hasWrite) return no(`it writes "${written}", and there is no tool "write" here to do so unasked`);
  const danger =
    unsafe(executable, name, args, rules.safeBins) ?? (written === undefined ? undefined : `a safe bin may not write "${written}"`);
  if (!danger) return { isAllowed: true, why: 'a safe bin' };
  const lines = await entriesOf(rules);
  const entries = [...rules.entries, ...lines.filter(({ pattern }) => pattern === name)];
  const match = await matchEntry(executable, args, entries, { workspace, cwd, sight, hasInput: hasInput(wires) });
  if ('by' in match) return { isAllowed: true, why: match.by.place };
  return no(rules.safeBins.names.includes(name) ? danger : match.why);
}

/** Rules are made for one judgement: its lines are parsed once. */
const parsedLines = new WeakMap<Rules, Promise<readonly Placed[]>>();

function entriesOf(rules: Rules): Promise<readonly Placed[]> {
  const entries = parsedLines.get(rules) ?? linesAsEntries(rules);
  parsedLines.set(rules, entries);
  return entries;
}

/** `tools.exec.allow`: each simple command of a line, to the letter, and by its inner program as what is judged is. */
async function linesAsEntries({ lines }: Rules): Promise<readonly Placed[]> {
  const entries = lines.map(async ({ line, place }) => {
    const commands = ((await parseCommand(line)).steps ?? []).flatMap((step) => step.commands);
    if (commands.some(({ redirections }) => redirections.some(isInput))) return [];
    const inner = commands.map(({ words }) => words.slice(wrapperWords(words) ?? 0));
    return inner.map(([pattern = '', ...args]) => ({ pattern, args, place, isLine: true }));
  });
  return (await Promise.all(entries)).flat();
}

/** Why a line of `tools.exec.allow` counts for nothing. */
export async function uselessLine(line: string): Promise<string | undefined> {
  const { steps } = await parseCommand(line);
  if (!steps) return undefined;
  const redirected = steps.some(({ commands }) => commands.some(({ redirections }) => redirections.some(isInput)));
  return redirected ? 'it has an input redirection, which no line can allow; leave the redirection out' : undefined;
}
