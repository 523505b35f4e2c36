/** `npm run soak [reloads]`: minutes of reloads under load. Exits with 1 where anything was lost, doubled or left behind. */
import { soak } from './reloads.ts';

const reloads = Number(process.argv[2] ?? 1000);
const began = performance.now();
const { turns, rejected, faults, growthPer100 } = await soak(reloads);
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${reloads} reloads (${rejected} of them rejected, as they should) under ${turns} turns in ${seconds} s`);
console.log(`resident memory grew by ${growthPer100.toFixed(2)} MB per 100 reloads over the second half`);
for (const fault of faults.slice(0, 20)) console.error(fault);
console.log(faults.length ? `${faults.length} fault(s)` : 'nothing lost, doubled or left behind');
process.exit(faults.length ? 1 : 0);
