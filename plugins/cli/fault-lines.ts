import type { Fault } from '../faults/contract.ts';
import { oneLine } from './contract/terminal.ts';

/** A fault as a person reads it: what and where, how often, when. */
export function faultText({ code, message, place, count, last, generation }: Fault, now = Date.now()): string {
  const often = count > 1 ? `${count} times, last ` : '';
  const where = place ? ` ${oneLine(place, 300)}` : '';
  return `${code}${where}: ${oneLine(message, 300)} (${often}${ago(now - last)}, in generation ${generation})`;
}

function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

export const faultCount = (count: number) => `${count} ${count === 1 ? 'fault' : 'faults'}`;
