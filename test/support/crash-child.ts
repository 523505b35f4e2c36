import { writeSync } from 'node:fs';
import type { Run } from '../../kernel/index.ts';
import { Inbox } from '../../plugins/inbox/contract.ts';
import { allDone, bootForCrash, type ScenarioName, scenarios } from './crash-scenario.ts';
import { watchWrites } from './durable-writes.ts';

/**
 * `node crash-child.ts <home> <scenario, or "" to send nothing> <n> <torn?>`: works until all is answered, or until its n-th
 * durable write, where it kills itself; torn, within that write. Prints what was accepted, and at its end all writes.
 */
const [home = '', scenario = '', nth = '0', torn = ''] = process.argv.slice(2);
const writes: string[] = [];
const isTheOne = () => writes.length + 1 === Number(nth);
const tell = (fact: object) => writeSync(1, `${JSON.stringify(fact)}\n`);

watchWrites({
  cut: (_, text) => (isTheOne() && torn ? text.slice(0, text.length / 2) : text),
  done(name) {
    if (isTheOne()) process.kill(process.pid, 'SIGKILL');
    writes.push(name);
  },
});
await using test = await bootForCrash(home);
const arrivals = scenario in scenarios ? scenarios[scenario as ScenarioName].arrivals : [];
const send = (run: Run) => Promise.all(arrivals.map((arrival) => run.get(Inbox).enqueue(arrival)));
for (const { itemId } of await test.kernel.run(send)) tell({ accepted: itemId });
await allDone(test);
tell({ writes });
