import { groups, isPluginTool, pluginGroup } from './groups.ts';

/** Other names by which people know tools. */
const aliases: Readonly<Record<string, string>> = { __proto__: null as never, bash: 'exec', 'apply-patch': 'apply_patch' };

/** Whether a pattern with `*`, or a group, names a tool. */
type Matcher = (tool: string, lower: string) => boolean;

/** A list made ready: plain names are looked up, only the rest is tried one by one. */
interface Compiled {
  readonly plain: ReadonlyMap<string, number>;
  readonly open: readonly (readonly [index: number, matcher: Matcher])[];
}

/** Once per list, which nobody changes. */
const compiled = new WeakMap<readonly string[], Compiled>();

/** The first pattern of a list that names the tool: its name, one with `*`, or a group; -1 where none does. Case does not count. */
export function findPattern(patterns: readonly string[], tool: string): number {
  let list = compiled.get(patterns);
  if (!list) compiled.set(patterns, (list = compile(patterns)));
  const lower = tool.toLowerCase();
  const plain = list.plain.get(lower) ?? Number.POSITIVE_INFINITY;
  for (const [index, matcher] of list.open) {
    if (index > plain) break;
    if (matcher(tool, lower)) return index;
  }
  return plain === Number.POSITIVE_INFINITY ? -1 : plain;
}

/** Whether this one pattern names the tool. */
export function names(pattern: string, tool: string): boolean {
  const lower = tool.toLowerCase();
  const known = single.get(pattern) ?? made(pattern);
  return typeof known === 'string' ? known === lower : known(tool, lower);
}

/** What single patterns come to: findings ask the same few of every tool. */
const single = new Map<string, Matcher | string>();

function made(pattern: string): Matcher | string {
  if (single.size >= 1000) single.clear();
  const word = pattern.trim().toLowerCase();
  const own = matcherOf(word) ?? aliases[word] ?? word;
  single.set(pattern, own);
  return own;
}

/** Names no one tool but what there may be: a wildcard or a group. */
export const isOpen = (pattern: string) => pattern.includes('*') || pattern.startsWith('group:');

function compile(patterns: readonly string[]): Compiled {
  const plain = new Map<string, number>();
  const open: [number, Matcher][] = [];
  for (const [index, pattern] of patterns.entries()) {
    const word = pattern.trim().toLowerCase();
    const matcher = matcherOf(word);
    const name = aliases[word] ?? word;
    if (matcher) open.push([index, matcher]);
    else if (!plain.has(name)) plain.set(name, index);
  }
  return { plain, open };
}

/** Undefined for a plain name. */
function matcherOf(word: string): Matcher | undefined {
  if (word === pluginGroup) return isPluginTool;
  const group = Object.hasOwn(groups, word) ? groups[word] : undefined;
  if (group) return (tool) => group.includes(tool);
  if (!word.includes('*')) return undefined;
  return wildcard(word);
}

/** Without a regular expression: many `*` must not take long on a long name. */
function wildcard(word: string): Matcher {
  const [first = '', ...between] = word.split(/\*+/);
  const last = between.pop() ?? '';
  const least = first.length + last.length;
  return (_tool, lower) => {
    if (!lower.startsWith(first) || lower.length < least || !lower.endsWith(last)) return false;
    const end = lower.length - last.length;
    let at = first.length;
    for (const part of between) {
      const found = lower.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
