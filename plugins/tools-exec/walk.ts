import type { Command, SyntaxNode } from 'unbash';
import { literal } from './word.ts';

/** A simple command anywhere in the text; words that only a shell can tell are undefined. */
export interface Mention {
  readonly text: string;
  readonly words: readonly (string | undefined)[];
  readonly reads: readonly string[];
}

type ForEachChild = (node: SyntaxNode, each: (child: SyntaxNode) => void) => void;
export interface Found {
  readonly shellOnly: Set<string>;
  readonly mentions: Mention[];
  /** Texts that an inner shell would read. */
  readonly inner: string[];
}

/** What a node of the grammar means, for people. */
export const names: Readonly<Record<string, string>> = {
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
export function walk(node: SyntaxNode, source: string, forEachChild: ForEachChild, found: Found) {
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
