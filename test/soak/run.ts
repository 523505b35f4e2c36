/** `npm run soak [reloads]`: minutes of reloads under load. Exits with 1 where anything was lost, doubled or left behind. */
import { soak } from './reloads.ts';

const reloads = Number(process.argv[2] ?? 1000);
const began = performance.now();
const { turns, rejected, faults: found, keptPerReload } = await soak(reloads);
const faults = [...found];
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${reloads} reloads (${rejected} of them rejected, as they should) under ${turns} turns in ${seconds} s`);
console.log(`one more reload keeps ${keptPerReload.toFixed(1)} KB of heap (bar: 40)`);
if (keptPerReload > 40) faults.push('reloads leak');
for (const fault of faults.slice(0, 20)) console.error(fault);
console.log(faults.length ? `${faults.length} fault(s)` : 'nothing lost, doubled or left behind');
process.exit(faults.length ? 1 : 0);
