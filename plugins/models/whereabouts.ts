import { Host, type Run } from '../../kernel/index.ts';

/** A config path with its place in the text, where it has one. Parses the text: not for every turn. */
export function whereIs(run: Run, path: string): string {
  const place = run.get(Host).place(path);
  return place === path ? path : `${path} (${place})`;
}
