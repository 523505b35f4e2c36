/**
 * Minutes on the real product. Exits with 1 where anything was lost, doubled or left behind, or a bar was missed.
 *
 *     npm run soak -- reloads [count]     1,000 reloads under load
 *     npm run soak -- load [minutes]      200 sessions at once, 20 minutes
 */
const [what = 'reloads', ...args] = process.argv.slice(2);
const number = Number((/^\d/.test(what) ? what : args[0]) ?? Number.NaN);

const faults = await run();
for (const fault of faults.slice(0, 20)) console.error(fault);
console.log(faults.length ? `${faults.length} fault(s)` : 'nothing lost, doubled or left behind');
process.exit(faults.length ? 1 : 0);

async function run(): Promise<readonly string[]> {
  if (what === 'load') return (await import('./load-report.ts')).report(number || 20);
  if (what === 'reloads' || /^\d+$/.test(what)) return reloads(number || 1000);
  console.error(`there is no soak "${what}"; there are "reloads [count]" and "load [minutes]"`);
  return process.exit(64);
}

async function reloads(count: number): Promise<readonly string[]> {
  const { soak } = await import('./reloads.ts');
  const began = performance.now();
  const { turns, rejected, faults: found, keptPerReload } = await soak(count);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`${count} reloads (${rejected} of them rejected, as they should) under ${turns} turns in ${seconds} s`);
  console.log(`one more reload keeps ${keptPerReload.toFixed(1)} KB of heap (bar: 40)`);
  return keptPerReload > 40 ? [...found, 'reloads leak'] : found;
}
