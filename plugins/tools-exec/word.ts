import type { Word } from 'unbash';
import { unquoted } from './unquoted.ts';

/** What only a shell can do was found where the words have to be known. */
export class ShellOnly extends Error {}

export const onlyShell = (what: string): never => {
  throw new ShellOnly(what);
};

export const expands = 'a word that the shell expands';

/** The word, where both readings of it agree; undefined where a shell would expand anything. */
export const literal = (word: Word): string | undefined => {
  const value = unquoted(word.text);
  return value === word.value ? value : undefined;
};

export function known(word: Word): string {
  return literal(word) ?? onlyShell(expands);
}

/** Second look at what is a word only by its place. */
export const knownText = (text: string) => unquoted(text) ?? onlyShell(expands);
