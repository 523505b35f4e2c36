import { KernelError } from '../../kernel/index.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `24h`, `1h30m` in milliseconds; a bare number is minutes. */
export function durationMs(text: string | number, at: string): number {
  if (typeof text === 'number') return text * 60_000;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text.trim()) {
    throw new KernelError('DURATION_INVALID', `${at}: "${text}" is no duration; write e.g. 30s, 15m, 24h`);
  }
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit as string] ?? 0), 0);
}
