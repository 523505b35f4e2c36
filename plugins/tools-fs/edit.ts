import { defineTool, KernelError, text, type Tool } from '../../kernel/index.ts';
import { closest } from './closest.ts';
import { fitOf, misfit } from './indentation.ts';
import { findLines } from './line-match.ts';
import { stageWrite } from './staged-file.ts';
import { readTextFile } from './text-file.ts';
import { fenceOf } from './workspace.ts';

export const edit: Tool = defineTool({
  name: 'edit',
  description: 'Replace one passage of a file. oldText must be in it exactly once: copy it from the file, with enough lines around it.',
  section: 'Files',
  parameters: {
    type: 'object',
    required: ['path', 'oldText', 'newText'],
    additionalProperties: false,
    properties: {
      path: { type: 'string', minLength: 1, description: 'Relative to the workspace' },
      oldText: { type: 'string', minLength: 1 },
      newText: { type: 'string' },
    },
  },
  async execute({ path, oldText, newText }, call) {
    const file = await readTextFile(await fenceOf(call), path);
    const [sought, replacement] = [oldText, newText].map((part) => part.replaceAll('\r\n', '\n')) as [string, string];
    const change = replaceOnce(file.name, file.text, sought, replacement);
    await using staged = await stageWrite(await fenceOf(call), path, file.restore(change.text), file.stats);
    call.signal.throwIfAborted();
    await staged.commit();
    return text(`Edited ${file.name} at line ${change.line}${change.tolerant ? ' (matched without regard to whitespace)' : ''}`);
  },
});

interface Change {
  readonly text: string;
  /** From 1. */
  readonly line: number;
  readonly tolerant: boolean;
}

/** Replaces the only place of `sought`: exactly, else line by line without regard to whitespace. */
export function replaceOnce(name: string, whole: string, sought: string, replacement: string): Change {
  if (sought === replacement) throw new KernelError('EDIT_NO_CHANGE', 'oldText and newText are the same');
  const places = placesOf(whole, sought);
  const [at] = places;
  if (at === undefined) return replaceLines(name, whole, sought, replacement);
  if (places.length > 1)
    throw ambiguous(
      name,
      places.map((place) => lineOf(whole, place)),
    );
  return { text: whole.slice(0, at) + replacement + whole.slice(at + sought.length), line: lineOf(whole, at), tolerant: false };
}

/** Overlapping ones too; no more than an error would name. */
function placesOf(whole: string, sought: string): readonly number[] {
  const places: number[] = [];
  for (let at = whole.indexOf(sought); at >= 0 && places.length < 10; at = whole.indexOf(sought, at + 1)) places.push(at);
  return places;
}

function replaceLines(name: string, whole: string, sought: string, replacement: string): Change {
  const lines = whole.split('\n');
  const wanted = sought.replace(/\n$/, '').split('\n');
  const { places } = findLines(lines, wanted);
  if (places.length > 1)
    throw ambiguous(
      name,
      places.map((place) => place + 1),
    );
  const [at] = places;
  if (at === undefined) throw new KernelError('EDIT_NO_MATCH', `oldText is not in "${name}". ${closest(lines, wanted)}`);
  const there = lines.slice(at, at + wanted.length);
  const added = replacement === '' && sought.endsWith('\n') ? [] : replacement.replace(/\n$/, '').split('\n');
  const fitted = aligned(added, wanted, there);
  if (!fitted) throw new KernelError('EDIT_NO_MATCH', misfit(`oldText is in "${name}" at line ${at + 1}`));
  return { text: lines.toSpliced(at, wanted.length, ...fitted).join('\n'), line: at + 1, tolerant: true };
}

/** What is the same above and below the change stays as the file has it. */
function aligned(added: readonly string[], wanted: readonly string[], there: readonly string[]): readonly string[] | undefined {
  const most = Math.min(added.length, wanted.length);
  const count = (isSame: (n: number) => boolean) => [...Array(most).keys()].find((n) => !isSame(n)) ?? most;
  const above = count((n) => added[n] === wanted[n]);
  const below = Math.min(
    most - above,
    count((n) => added.at(-1 - n) === wanted.at(-1 - n)),
  );
  const fit = fitOf(wanted, there);
  const between = added.slice(above, added.length - below).map(fit);
  if (!between.every((line) => line !== undefined)) return undefined;
  return [...there.slice(0, above), ...between, ...there.slice(there.length - below)];
}

function ambiguous(name: string, lines: readonly number[]): KernelError {
  const where = `lines ${lines.slice(0, 9).join(', ')}${lines.length > 9 ? ' and more' : ''}`;
  return new KernelError(
    'EDIT_AMBIGUOUS',
    `oldText is in "${name}" more than once (${where}); give more of the text around the one you mean`,
  );
}

const lineOf = (whole: string, at: number) => whole.slice(0, at).split('\n').length;
