import { misused } from '../../cli/contract.ts';

/** The one ID that a verb takes. */
export function oneId(verb: string, [id, ...more]: readonly string[]): string {
  if (id && more.length === 0) return id;
  throw misused(`outbox ${verb} takes one id of "outbox list"`);
}
