import { misused } from '../contract.ts';

/** The one name that a verb takes; anything else is a misuse of the command line. */
export function oneName([name, ...more]: readonly string[]): string {
  if (name !== undefined && more.length === 0) return name;
  const what = name === undefined ? 'the name of a plugin is missing' : `one name at a time, not also ${more.join(', ')}`;
  throw misused(what);
}
