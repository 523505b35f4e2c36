import { misused } from '../../cli/contract.ts';

/** The one KEY that a verb takes. */
export function oneKey(verb: string, [key, ...more]: readonly string[]): string {
  if (key && more.length === 0) return key;
  throw misused(`sessions ${verb} takes one session key`);
}

/** A count given as an option. */
export function countOf(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw misused(`--${option} takes a whole number from 1, not "${value}"`);
}
