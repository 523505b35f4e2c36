import { bold, dim, hanging, oneLine, plain } from '../cli/contract.ts';
import type { Audit, Placed } from './contract.ts';

/** For people: what was found, where, and below it what mends it. */
export function show({ findings, counts }: Audit): string {
  if (findings.length === 0) return 'nothing was found that is open to others';
  const { severe, warning, note } = counts;
  const sum = [`${severe} severe`, `${warning} ${warning === 1 ? 'warning' : 'warnings'}`, `${note} ${note === 1 ? 'note' : 'notes'}`];
  return [...findings.map((one) => shown(one)), sum.join(', ')].join('\n\n');
}

function shown({ severity, code, message, place, mend, file }: Placed): string {
  const head = severity === 'note' ? dim(severity.padEnd(7)) : bold(severity.padEnd(7));
  const below = ' '.repeat(11);
  const at = place && place !== file ? [`${below}${dim(plain(`${code}  ${place}`))}`] : [`${below}${dim(plain(code))}`];
  return [`  ${head}  ${hanging(oneLine(message, 500), 11)}`, ...at, `${below}${hanging(oneLine(mend, 500), 11)}`].join('\n');
}
