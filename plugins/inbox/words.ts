import { nearest } from '../../kernel/index.ts';
import type { ChatWord } from './contract.ts';

/** Those that are obeyed here. */
export const ownWords: readonly ChatWord[] = [
  { word: '/stop', usage: '/stop', does: 'ends what runs in this session, and what waits there' },
  { word: '/new', usage: '/new', does: 'the same, and a new conversation begins; /reset is another name of it' },
  { word: '/queue', usage: '/queue [MODE]', does: 'how messages wait while a turn runs: followup, collect, steer, interrupt, default' },
  { word: '/help', usage: '/help', does: 'this list' },
];

/** Answer of `/help`, and to a word that nobody obeys. */
export function wordList(words: readonly ChatWord[], unknown?: string): string {
  const near =
    unknown === undefined
      ? undefined
      : nearest(
          unknown,
          words.map(({ word }) => word),
        );
  const cure = near ? `; did you mean ${near}?` : '.';
  const head =
    unknown === undefined
      ? 'Sent alone, as a whole message:'
      : `There is no ${unknown.slice(0, 60)}${cure} Sent alone, as a whole message:`;
  return [head, '', ...words.map(({ usage, does }) => `- \`${usage}\`: ${does}`)].join('\n');
}
