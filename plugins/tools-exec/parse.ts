import type { Command, ParsedScript, PipelineNode, Redirection as Redirect, Statement, SyntaxNode, Word } from 'unbash';
import { unquoted } from './unquoted.ts';

/** `<` `>` `>>` and here-documents of a command whose every word is known. */
export type Redirection =
  | { readonly kind: 'file'; readonly fd: 0 | 1 | 2; readonly path: string; readonly mode: 'read' | 'write' | 'append' }
  | { readonly kind: 'same'; readonly fd: 1 | 2; readonly same: 1 | 2 }
  | { readonly kind: 'text'; readonly text: string };

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

/** A simple command anywhere in the text; words that only a shell can tell are undefined. */
export interface Mention {
  readonly text: string;
  readonly words: readonly (string | undefined)[];
  readonly reads: readonly string[];
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
const expands = 'a word that the shell expands';
const maxDepth = 4;
const maxChars = 20_000;

class ShellOnly extends Error {}
const onlyShell = (what: string): never => {
  throw new ShellOnly(what);
};

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

type ForEachChild = (node: SyntaxNode, each: (child: SyntaxNode) => void) => void;
interface Found {
  readonly shellOnly: Set<string>;
  readonly mentions: Mention[];
  /** Texts that an inner shell would read. */
  readonly inner: string[];
}

const names: Readonly<Record<string, string>> = {
  Subshell: 'a subshell ( … )',
  BraceGroup: 'a group { … }',
  If: '"if"',
  For: '"for"',
  ArithmeticFor: '"for"',
  While: '"while" or "until"',
  Case: '"case"',
  Select: '"select"',
  Function: 'a function',
  Coproc: '"coproc"',
  TestCommand: '[[ … ]]',
  ArithmeticCommand: '(( … ))',
  CommandExpansion: 'a substitution $( … )',
  ProcessSubstitution: 'a process substitution <( … )',
  SimpleExpansion: 'a variable',
  ParameterExpansion: 'a variable',
  ArithmeticExpansion: 'arithmetic $(( … ))',
  Glob: 'a file name pattern',
  ExtendedGlob: 'a file name pattern',
  BraceExpansion: 'a brace expansion',
  AnsiCQuoted: "a $'…' text",
  LocaleString: 'a $"…" text',
  Assignment: 'a variable assignment',
  Time: '"time"',
};

/** Finds every simple command, also in substitutions and branches, and names what only a shell can do. */
function walk(node: SyntaxNode, source: string, forEachChild: ForEachChild, found: Found) {
  const what = names[node.type];
  if (what) found.shellOnly.add(what);
  const wrong = node.type === 'Script' ? node.errors?.[0] : undefined;
  if (wrong) found.shellOnly.add(`a syntax error (${wrong.message})`);
  // An escaped-backtick script has a text of its own, which its positions count in.
  const text = node.type === 'Script' ? (node.source ?? source) : source;
  if (node.type === 'Command') mention(node, text, found);
  forEachChild(node, (child) => walk(child, text, forEachChild, found));
}

function mention(command: Command, source: string, { mentions, inner }: Found) {
  const args = command.suffix.filter((part) => part.type === 'Word' || part.type === 'Assignment');
  const words = [command.name, ...args]
    .filter((word) => word !== undefined)
    .map((word) => (word.type === 'Word' ? literal(word) : word.text));
  const reads = command.redirects.flatMap(
    (one) => (one.type === 'Redirect' && one.operator === '<' && one.target && literal(one.target)) || [],
  );
  mentions.push({ text: source.slice(command.pos, command.end), words, reads });
  const at = words.findIndex((word) => word !== undefined && /^-[a-z]*c$/.test(word));
  const text = words[at + 1];
  if (at > 0 && text !== undefined && words.slice(0, at).some((word) => word !== undefined && /(^|\/)[a-z]*sh$/.test(word)))
    inner.push(text);
  if (words[0] === 'eval')
    inner.push(
      words
        .slice(1)
        .map((word) => word ?? '')
        .join(' '),
    );
}

const literal = (word: Word): string | undefined => {
  const value = unquoted(word.text);
  return value === word.value ? value : undefined;
};

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

function known(word: Word): string {
  return literal(word) ?? onlyShell(expands);
}

/** Second look at what is a word only by its place. */
const knownText = (text: string) => unquoted(text) ?? onlyShell(expands);

function redirection(one: Redirect): readonly Redirection[] {
  if (one.descriptor && one.descriptor.type !== 'FileDescriptor') return onlyShell('a redirection to a variable');
  const fd = one.descriptor?.value;
  if (one.type !== 'Redirect')
    return [{ kind: 'text', text: fd === undefined || fd === 0 ? inputText(one) : onlyShell('a here-document for another descriptor') }];
  const path = one.target ? known(one.target) : onlyShell('a redirection to nothing');
  const out = fd === undefined || fd === 1 || fd === 2 ? (fd ?? 1) : onlyShell(`a redirection of descriptor ${fd}`);
  switch (one.operator) {
    case '<':
      return fd === undefined || fd === 0 ? [{ kind: 'file', fd: 0, path, mode: 'read' }] : onlyShell(`a redirection of descriptor ${fd}`);
    case '>':
    case '>|':
      return [{ kind: 'file', fd: out, path, mode: 'write' }];
    case '>>':
      return [{ kind: 'file', fd: out, path, mode: 'append' }];
    case '>&':
      return path === '1' || path === '2'
        ? [{ kind: 'same', fd: out, same: Number(path) as 1 | 2 }]
        : onlyShell('"&" with a file or descriptor');
    case '&>':
      return [
        { kind: 'file', fd: 1, path, mode: 'write' },
        { kind: 'same', fd: 2, same: 1 },
      ];
    default:
      return onlyShell(`"${one.operator}"`);
  }
}

function inputText(one: Exclude<Redirect, { type: 'Redirect' }>): string {
  if (one.type === 'HereString') return `${one.target ? known(one.target) : onlyShell('an empty here-string')}\n`;
  const { operator, delimiter, body, closing } = one;
  if (operator === '<<-' || !closing || !delimiter) onlyShell('a here-document with "<<-" or without an end');
  const isPlain = delimiter?.quoted || !/[$`\\]/.test(body.text);
  return isPlain ? body.text : onlyShell('a here-document that the shell expands');
}
