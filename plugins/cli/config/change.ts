import { isCoded, KernelError, messageOf } from '../../../kernel/index.ts';
import { replaceText } from './files.ts';

/** A change of one config file, from text to text; undefined: no file. */
export interface Change {
  readonly file: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** For the history: `set gateway.port`. */
  readonly what: string;
}

/** Writes a change and has it taken up; one that is rejected is taken back, unless somebody else has written since. */
export async function swapIn<T>({ file, before, after }: Change, reload: () => Promise<T>): Promise<T> {
  replaceText(file, before, after);
  try {
    return await reload();
  } catch (error) {
    if (!isCoded(error) || isLost(error)) throw error;
    throw new KernelError(error.code, `${error.message}; ${takenBack({ file, before, after })}`, { cause: error });
  }
}

/** The connection ended before the answer: nobody knows what became of the change. */
export const isLost = ({ code }: { readonly code: string }) => code === 'CLI_LOST';

function takenBack({ file, before, after }: Omit<Change, 'what'>): string {
  try {
    replaceText(file, after, before);
    return `${file} is as it was before`;
  } catch (cause) {
    return `and it could not be taken back: ${messageOf(cause)}`;
  }
}
