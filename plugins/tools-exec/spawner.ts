import { Host, KernelError, type Run } from '../../kernel/index.ts';
import { type Job, type Launch, type Spawn, WrapSpawn } from './contract.ts';
import { scrubbed } from './environment.ts';
import { startGroup } from './spawn.ts';

/** The spawn service: every program of an agent passes here, and through the sandbox of its run. */
export const spawner: Spawn = {
  env: (run) => ({ ...scrubbed(run.get(Host).env), INSTAR_EXEC: run.subject.agent ?? '1' }),
  start: async (job: Job, run) => startGroup(await confined(job, run)),
};

async function confined(job: Job, run: Run): Promise<Job> {
  const launches = await Promise.all(
    job.stages.map(async (stage) => {
      const launch: Launch = { argv: stage.argv, cwd: job.cwd, env: job.env, world: 'host' };
      return { stage, launch: await run.call(WrapSpawn, launch) };
    }),
  );
  const first = launches[0]?.launch;
  if (!first || launches.some(({ launch }) => launch.world !== first.world)) throw unconfined('its programs would run in different worlds');
  if (run.subject.sandboxed && first.world !== 'sandbox') throw unconfined('no sandbox took it');
  return { ...job, cwd: first.cwd, env: first.env, stages: launches.map(({ stage, launch }) => ({ ...stage, argv: launch.argv })) };
}

const unconfined = (why: string) =>
  new KernelError('SPAWN_CONFINED', `this session is sandboxed and ${why}; nothing was run. See "instar sandbox explain"`);
