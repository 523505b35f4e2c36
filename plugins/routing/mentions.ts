import { KernelError, messageOf } from '../../kernel/index.ts';
import type { AgentEntry } from '../agents/contract.ts';
import type { Mention } from './contract.ts';

/** The parts of an agent that say how people call it. */
export interface Called {
  readonly identity?: AgentEntry['identity'];
  readonly groupChat?: { readonly mentionPatterns?: readonly string[] };
}

/** A regular expression, and how people know it. */
export interface Pattern {
  readonly pattern: string;
  readonly shown: string;
}
export interface Patterns {
  readonly patterns: readonly Pattern[];
  /** Whose patterns they are, for people. */
  readonly from: string;
}

/** Own patterns, also where that is an empty list; else the name and the emoji of the identity. */
export function patternsOf({ identity, groupChat }: Called): Patterns {
  const own = groupChat?.mentionPatterns;
  if (own) return { patterns: own.map((pattern) => ({ pattern, shown: `/${pattern}/i` })), from: 'groupChat.mentionPatterns' };
  const [name = '', emoji = ''] = [identity?.name, identity?.emoji].map((text) => clean(text ?? '').trim());
  const derived = [
    { pattern: nameAsPattern(name), shown: `"${name}"` },
    { pattern: quoted(emoji), shown: emoji },
  ];
  return { patterns: derived.filter(({ pattern }) => pattern !== ''), from: 'the agent’s identity' };
}

/** The name as a word of its own; scripts that put no space between words have it anywhere. */
function nameAsPattern(name: string): string {
  const words = name.split(/\s+/).map(quoted).join('[\\s\\v\\p{Z}]+'); // this engine's \s is that of ASCII alone
  if (words === '' || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(name)) return words;
  return `(?:^|[^\\p{L}\\p{N}_])@?${words}(?:$|[^\\p{L}\\p{N}_])`;
}

const quoted = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Marks that nobody sees, and that would stand in the middle of a name. */
const clean = (text: string) => text.replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '');

interface Regex {
  test(text: string): boolean;
}

/** Compiles a pattern for an engine that takes time linear in the text, whatever the pattern. Throws MENTION_PATTERN. */
export async function compilePattern(pattern: string): Promise<Regex> {
  const { RE2JS } = await import('re2js');
  try {
    // A `\b` that JSON has read as a backspace was meant as the edge of a word.
    const source = RE2JS.translateRegExp(clean(pattern.replaceAll('\b', '\\b')));
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE | RE2JS.LOOKBEHINDS);
  } catch (cause) {
    const why = /\(\?=|\(\?!/.test(pattern) ? 'look-ahead is not supported; \\b is the edge of a word' : reasonOf(cause);
    throw new KernelError('MENTION_PATTERN', `the pattern ${JSON.stringify(pattern)} cannot be used: ${why}`, { cause });
  }
}

const reasonOf = (cause: unknown) =>
  messageOf(cause)
    .replace(/^error parsing regexp: /, '')
    .replace(/: `.*$/s, '');

const longest = 20_000;

/** Keeps what it compiled: patterns are those of the config. */
export function openMentions(): (called: Called, text: string) => Promise<Mention> {
  const known = new Map<string, Promise<Regex>>();
  const regexOf = (pattern: string) => {
    const found = known.get(pattern) ?? compilePattern(pattern);
    known.set(pattern, found);
    return found;
  };
  return async (called, text) => {
    const { patterns, from } = patternsOf(called);
    if (patterns.length === 0) return { isMentioned: false, why: `${from} gives no pattern` };
    const read = clean(text.slice(0, longest));
    for (const { pattern, shown } of patterns) {
      if ((await regexOf(pattern)).test(read)) return { isMentioned: true, by: pattern, why: `the text fits ${shown} of ${from}` };
    }
    return { isMentioned: false, why: `the text fits none of ${patterns.map(({ shown }) => shown).join(', ')} of ${from}` };
  };
}
