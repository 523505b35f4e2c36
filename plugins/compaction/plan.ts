import { isSummary, type Message, type ShownMessage, type UserMessage } from '../sessions/contract.ts';
import { cutAt, underWay } from './cut.ts';
import { bytesPerToken, tokensOf } from './estimate.ts';
import { inBytes, textOf } from './record.ts';
import type { Room } from './room.ts';

/** What a summary is to stand for, and where what stays begins. */
export interface Plan {
  readonly older: readonly Message[];
  readonly firstKeptEntryId: string;
  /** Of the summary. Tokens; less than half of what it stands for. */
  readonly tokens: number;
  /** Words of the user that stay as they are, for the turn they began goes on. */
  readonly verbatim: string;
}

/** Under this, a summary would save nothing. Tokens. */
const worthwhile = 400;

/** Undefined where there is nothing to gain. */
export function planOf(shown: readonly ShownMessage[], room: Room): Plan | undefined {
  const messages = shown.map(({ message }) => message);
  const cut = cutAt(messages, room.keep, room.all - room.summary);
  const first = cut === undefined ? undefined : shown[cut];
  if (cut === undefined || !first) return undefined;
  const older = messages.slice(0, cut);
  const size = tokensOf(older);
  if (size < worthwhile) return undefined;
  const tokens = Math.min(room.summary, size / 2 - 100);
  const words = underWay(messages, cut).map(wordsOf);
  const verbatim = inBytes(words.filter(Boolean).join('\n\n'), (tokens / 3) * bytesPerToken);
  return { older, firstKeptEntryId: first.entryId, tokens: verbatim ? (tokens * 2) / 3 : tokens, verbatim };
}

const mark = '## What the user asked for, in his words; it is being worked on\n';

/** Of an earlier summary only the words that stood in it already. */
function wordsOf({ content }: UserMessage): string {
  const text = textOf(content);
  const at = text.indexOf(mark);
  if (at >= 0) return text.slice(at + mark.length).replace(/\n<\/summary>$/, '');
  return isSummary(text) ? '' : text;
}

/** The text of the record. */
export const withVerbatim = (summary: string, { verbatim }: Plan): string => (verbatim ? `${summary}\n\n${mark}${verbatim}` : summary);
