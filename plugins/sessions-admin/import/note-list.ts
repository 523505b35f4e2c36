import type { Note } from '../contract.ts';

/** What is said of one file: the first notes, and how many more there are. */
export interface NoteList {
  readonly notes: readonly Note[];
  readonly moreNotes: number;
  add(text: string, line: number): void;
}

/** A broken file can have a note for every line; a person reads the first ones. */
export function noteList(most = 20): NoteList {
  const notes: Note[] = [];
  let all = 0;
  return {
    notes,
    get moreNotes() {
      return all - notes.length;
    },
    add(text, line) {
      all++;
      if (notes.length < most) notes.push({ line, text });
    },
  };
}
