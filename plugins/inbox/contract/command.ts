import type { Content } from '../../../kernel/index.ts';

/** What becomes of a message that comes while a turn of its session runs (SPEC 6.3). */
export const queueModes = ['followup', 'collect', 'steer', 'interrupt'] as const;
export type QueueMode = (typeof queueModes)[number];

/** A message that is obeyed at the door, and does not wait in the queue that it is about. */
export type Command = { readonly name: 'stop' | 'new' | 'reset' } | QueueCommand | HelpCommand;
/** Without a mode it asks which one counts. */
export interface QueueCommand {
  readonly name: 'queue';
  readonly mode: QueueMode | 'default' | undefined;
  readonly unknown?: string;
}

export interface HelpCommand {
  readonly name: 'help';
  /** What was said, where it is no word that anybody obeys. */
  readonly unknown?: string;
}

/** Reads messages of strangers, of any size: it is bound to the start, and no part of it fits what the next one does. */
const wordAtStart = /^(\/[a-z][a-z_-]*)[.!?…。！？]*(?=[\s,:]|$)/i;
const marksAtEnd = /[\s.!?…。！？]+$/u;
/** Characters; a longer message is a text. */
const longest = 200;

/** The word that a whole message is or begins with, and what follows it. How it ends (`/compact.`) does not matter; a path has no word. */
export function wordIn(content: string | readonly Content[]): Worded | undefined {
  const text = (typeof content === 'string' ? content : content.length === 1 && content[0]?.type === 'text' ? content[0].text : '').trim();
  const [said, word] = wordAtStart.exec(text) ?? [];
  if (said === undefined || word === undefined) return undefined;
  return { word: word.toLowerCase(), rest: text.slice(said.length).replace(/^[\s,:]+/, ''), isQuestion: /[?？]$/.test(text) };
}

interface Worded {
  readonly word: string;
  readonly rest: string;
  readonly isQuestion: boolean;
}

/** Only a whole message is a command: words in a sentence are not. `known`: all words that somebody obeys; without it no slip is told. */
export function commandIn(content: string | readonly Content[], known?: ReadonlySet<string>): Command | undefined {
  const said = wordIn(content);
  if (!said || said.word.length + said.rest.length > longest) return undefined;
  const { word, rest, isQuestion } = said;
  const more = rest.toLowerCase().replace(marksAtEnd, '');
  if (word === '/queue') return queueIn(more);
  if (/[\s/]/.test(more)) return undefined;
  // A stop that is missed runs on behind the one who said it: `/stop now` is one, as a sentence of more words is none.
  if (word === '/stop') return { name: 'stop' };
  // What cannot be taken back is not done by guess.
  if (word === '/new' || word === '/reset') return more || isQuestion ? { name: 'help' } : { name: word.slice(1) as 'new' };
  if (word === '/help') return { name: 'help' };
  // A slip like `/qeue steer` is not for a model.
  return known && !known.has(word) ? { name: 'help', unknown: word } : undefined;
}

function queueIn(word: string): QueueCommand {
  if (word === '') return { name: 'queue', mode: undefined };
  if (word === 'default' || word === 'reset') return { name: 'queue', mode: 'default' };
  const mode = queueModes.find((one) => one === word);
  return mode ? { name: 'queue', mode } : { name: 'queue', mode: undefined, unknown: word };
}
