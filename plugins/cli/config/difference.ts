import { styleText } from 'node:util';
import { plain } from '../contract/terminal.ts';
import { textWithoutSecrets } from './secret.ts';

const paint = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

/** A unified diff of a file, secrets hidden; empty where nothing differs. */
export async function difference(file: string, before: string, after: string, showsSecrets = false): Promise<string> {
  if (before === after) return '';
  const [from, to] = showsSecrets ? [before, after] : [textWithoutSecrets(before || '{}'), textWithoutSecrets(after || '{}')];
  if (from === undefined || to === undefined) {
    return `${file}\n  one of the two texts cannot be read, so that nobody knows what in it is secret; --show-secrets shows it`;
  }
  const lines = await unified(file, before && from, after && to);
  return lines.split('\n').map(painted).join('\n');
}

/** As `patch` takes it. */
export async function unified(file: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const patch = createTwoFilesPatch(file, file, before, after, undefined, undefined, { context: 2, headerOptions: FILE_HEADERS_ONLY });
  return patch.trimEnd();
}

function painted(line: string): string {
  const shown = plain(line.replace(/\r$/, ''));
  const colour = /^(---|\+\+\+) /.test(shown) ? 'bold' : paint[shown[0] as keyof typeof paint];
  return colour ? styleText(colour, shown) : shown;
}
