import type { Redirection as Redirect } from 'unbash';
import { known, onlyShell } from './word.ts';

/** `<` `>` `>>` and here-documents of a command whose every word is known. */
export type Redirection =
  | { readonly kind: 'file'; readonly fd: 0 | 1 | 2; readonly path: string; readonly mode: 'read' | 'write' | 'append' }
  | { readonly kind: 'same'; readonly fd: 1 | 2; readonly same: 1 | 2 }
  | { readonly kind: 'text'; readonly text: string };

/** Whether a program is given text by it. */
export const isInput = (one: Redirection): boolean => one.kind === 'text' || (one.kind === 'file' && one.mode === 'read');

/** The first file that is written by them. */
export const writtenBy = (all: readonly Redirection[]): string | undefined =>
  all.flatMap((one) => (one.kind === 'file' && one.mode !== 'read' && one.path !== '/dev/null' ? [one.path] : []))[0];

export function redirection(one: Redirect): readonly Redirection[] {
  if (one.descriptor && one.descriptor.type !== 'FileDescriptor') return onlyShell('a redirection to a variable');
  const fd = one.descriptor?.value;
  if (one.type !== 'Redirect')
    return [{ kind: 'text', text: fd === undefined || fd === 0 ? inputText(one) : onlyShell('a here-document for another descriptor') }];
  const path = one.target ? known(one.target) : onlyShell('a redirection to nothing');
  const out = fd === undefined || fd === 1 || fd === 2 ? (fd ?? 1) : onlyShell(`a redirection of descriptor ${fd}`);
  switch (one.operator) {
    case '<':
      return fd === undefined || fd === 0 ? [{ kind: 'file', fd: 0, path, mode: 'read' }] : onlyShell(`a redirection of descriptor ${fd}`);
    case '>':
    case '>|':
      return [{ kind: 'file', fd: out, path, mode: 'write' }];
    case '>>':
      return [{ kind: 'file', fd: out, path, mode: 'append' }];
    case '>&':
      return path === '1' || path === '2'
        ? [{ kind: 'same', fd: out, same: Number(path) as 1 | 2 }]
        : onlyShell('"&" with a file or descriptor');
    case '&>':
      return [
        { kind: 'file', fd: 1, path, mode: 'write' },
        { kind: 'same', fd: 2, same: 1 },
      ];
    default:
      return onlyShell(`"${one.operator}"`);
  }
}

function inputText(one: Exclude<Redirect, { type: 'Redirect' }>): string {
  if (one.type === 'HereString') return `${one.target ? known(one.target) : onlyShell('an empty here-string')}\n`;
  const { operator, delimiter, body, closing } = one;
  if (operator === '<<-' || !closing || !delimiter) onlyShell('a here-document with "<<-" or without an end');
  const isPlain = delimiter?.quoted || !/[$`\\]/.test(body.text);
  return isPlain ? body.text : onlyShell('a here-document that the shell expands');
}
