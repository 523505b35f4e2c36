import type { ParsedScript, PipelineNode, Statement, SyntaxNode } from 'unbash';
import { type Redirection, redirection } from './redirection.ts';
import { type Mention, names, walk } from './walk.ts';
import { expands, known, knownText, onlyShell, ShellOnly } from './word.ts';

/** A command that needs no shell: every word is known to the letter. */
export interface SimpleCommand {
  readonly text: string;
  readonly words: readonly string[];
  readonly redirections: readonly Redirection[];
}

/** Runs `always`, or only after success (`and`) or failure (`or`) of what ran before. */
export interface Step {
  readonly when: 'always' | 'and' | 'or';
  readonly isNegated: boolean;
  readonly commands: readonly SimpleCommand[];
}

export interface Parsed {
  /** What we can execute ourselves; absent where only a shell can. */
  readonly steps?: readonly Step[];
  readonly mentions: readonly Mention[];
  readonly shellOnly: readonly string[];
}

/** Control and format characters, and blanks that a person takes for a space and a shell for a letter. */
const hidden =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u3164\u115F\u1160\uFFA0\u2800]|\p{Variation_Selector}/u;
/** `sh -c 'ls'` is judged, shown and executed as `ls`. */
const shells = /^(?:\/(?:usr\/)?bin\/)?(?:sh|bash|dash)$/;
const maxDepth = 4;
const maxChars = 20_000;

/** The grammar's half of judging: what the text consists of, and whether it can be executed without a shell. */
export async function parseCommand(source: string, depth = 0): Promise<Parsed> {
  const unbash = await import('unbash');
  const shellOnly = new Set<string>();
  if (hidden.test(source)) shellOnly.add('invisible or control characters');
  if (source.length > maxChars) return { mentions: [], shellOnly: [`more than ${maxChars} characters`] };
  const script = unbash.parse(source);
  const mentions: Mention[] = [];
  const inner: string[] = [];
  walk(script, source, unbash.forEachChild, { shellOnly, mentions, inner });
  const steps = attempt(() => stepsOf(script, source), shellOnly);
  const wrapped =
    steps?.length === 1 && steps[0]?.commands.length === 1 && !steps[0].isNegated ? inlineText(steps[0].commands[0]) : undefined;
  if (wrapped !== undefined && depth < maxDepth && shellOnly.size === 0) return parseCommand(wrapped, depth + 1);
  const nested = depth < maxDepth ? await Promise.all(inner.map((text) => parseCommand(text, depth + 1))) : [];
  const all = [...mentions, ...nested.flatMap((each) => each.mentions)];
  return { ...(steps && shellOnly.size === 0 && { steps }), mentions: all, shellOnly: [...shellOnly] };
}

/** The text of `sh -c TEXT`, and of nothing that is more than that. */
function inlineText(command: SimpleCommand | undefined): string | undefined {
  const [name = '', flag = '', text, ...more] = command?.words ?? [];
  const isPlain = shells.test(name) && /^-l?c$/.test(flag) && more.length === 0 && command?.redirections.length === 0;
  return isPlain ? text : undefined;
}

function attempt<T>(work: () => T, shellOnly: Set<string>): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ShellOnly)) throw error;
    // Says less than what the walk has found.
    if (shellOnly.size === 0 || error.message !== expands) shellOnly.add(error.message);
    return undefined;
  }
}

function stepsOf(script: ParsedScript, source: string): readonly Step[] {
  const steps = script.commands.flatMap((statement) => statementSteps(statement, source));
  return steps.length > 0 ? steps : onlyShell('nothing but comments');
}

function statementSteps({ command, background }: Statement, source: string): readonly Step[] {
  if (background) onlyShell('"&", which leaves it in the background');
  if (command.type !== 'AndOr') return [stepOf(command, 'always', source)];
  return command.commands.map((node, i) => stepOf(node, i === 0 ? 'always' : command.operators[i - 1] === '&&' ? 'and' : 'or', source));
}

function stepOf(node: PipelineNode, when: Step['when'], source: string): Step {
  if (node.type !== 'Pipeline') return { when, isNegated: false, commands: [simple(node, source)] };
  const { prefixes, operators, commands } = node;
  if (prefixes.length > 1 || prefixes.some(({ type }) => type !== 'Negation')) onlyShell('"time", or more than one "!"');
  if (operators.includes('|&')) onlyShell('"|&"');
  if (commands.length === 0) onlyShell('"!" without a command');
  return { when, isNegated: prefixes.length === 1, commands: commands.map((each) => simple(each, source)) };
}

function simple(node: SyntaxNode, source: string): SimpleCommand {
  if (node.type !== 'Command') return onlyShell(names[node.type] ?? `"${node.type}"`);
  if (!node.name) return onlyShell('a line without a command');
  if (node.prefix.some(({ type }) => type === 'Assignment')) onlyShell('a variable assignment');
  // `dd if=x`: an assignment only by its looks, a word by its place.
  const args = node.suffix.flatMap((part) => (part.type === 'Word' || part.type === 'Assignment' ? [part] : []));
  const words = [node.name, ...args].map((word) => (word.type === 'Word' ? known(word) : knownText(word.text)));
  const redirections = node.redirects.flatMap(redirection);
  return { text: source.slice(node.pos, node.end), words, redirections };
}
