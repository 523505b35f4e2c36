import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { exitCodes, type RunCommand } from './contract.ts';
import { errorLine } from './exit.ts';
import { isAlive } from './reach.ts';

const patienceMs = 60_000;

/** `instar stop`: asks the holder of the state folder to end, and waits until it has. */
export const run: RunCommand = async (argv, { home, readHolder }) => {
  parseArgs({ args: [...argv] });
  const holder = await readHolder(home);
  if (!holder || !isAlive(holder.pid)) {
    console.log(`no gateway runs on ${home}`);
    return 0;
  }
  process.kill(holder.pid, 'SIGTERM');
  const deadline = Date.now() + patienceMs;
  while (isAlive(holder.pid) && Date.now() < deadline) await pause(100);
  if (!isAlive(holder.pid)) {
    console.log(`stopped (pid ${holder.pid})`);
    return 0;
  }
  const message = `process ${holder.pid} still waits for its turns after ${patienceMs / 1000} s; "kill ${holder.pid}" once more forces it`;
  console.error(errorLine({ code: 'CLI_STILL_RUNNING', message }));
  return exitCodes.failed;
};
