import { service } from 'instar';

/** What other plugins may import of this one: tokens and types, nothing that acts. */
export interface Notes {
  add(text: string): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly { readonly at: number; readonly text: string }[]>;
}

export const Notes = service<Notes>('notes');
