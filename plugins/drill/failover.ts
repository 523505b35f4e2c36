import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KernelError } from '../../kernel/index.ts';
import { bold, type CommandHost, dim, oneLine, type RunCommand } from '../cli/contract.ts';
import type { Plan } from '../failover/contract.ts';
import { startMock } from './mock-server.ts';
import { playAll, type Scene } from './scenes.ts';
import { castOf, isStageable, type Kept, stagedConfig, waitNotice } from './stage.ts';

/** `instar drill failover`: the user's own chain and profiles, against a model server that is a mock, in a state folder that is thrown away. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' }, agent: { type: 'string' } } });
  const plan = await host.ask<Plan>('models.explain', { ...(values.agent && { agentId: values.agent }) });
  if (!isStageable(plan)) {
    const [first] = plan.candidates;
    throw new KernelError(
      'DRILL_NOTHING',
      `agent "${plan.agentId}" has no model that could be asked: ${first?.problem ?? 'no profile'}; "instar models explain" says more`,
    );
  }
  const scenes = await rehearse(plan, host);
  if (values.json) console.log(JSON.stringify({ agentId: plan.agentId, chain: plan.candidates.map(({ model }) => model), scenes }));
  else console.log(shown(plan, scenes));
  return 0;
};

async function rehearse(plan: Plan, host: CommandHost): Promise<readonly Scene[]> {
  const { values } = await host.readConfig(host.configFile, host.env);
  await using mock = await startMock();
  const home = mkdtempSync(join(tmpdir(), 'instar-drill-'));
  chmodSync(home, 0o700);
  try {
    const configFile = join(home, 'instar.json5');
    const { auth, failover } = values as { readonly auth?: Pick<Kept, 'cooldowns'>; readonly failover?: Pick<Kept, 'waitSeconds'> };
    const kept = { cooldowns: auth?.cooldowns, waitSeconds: failover?.waitSeconds };
    const notice = waitNotice(kept);
    if (notice) console.error(dim(notice));
    writeFileSync(configFile, JSON.stringify(stagedConfig(plan, mock, kept)));
    const lock = await host.takeLock(home, 'command');
    if (!lock) throw new KernelError('DRILL_NOTHING', `${home} is in use; try again`);
    // No key of the user's is in this environment, so that none could be sent anywhere.
    const env = { INSTAR_NO_DETECT: '1', INSTAR_HOME: home };
    const stage = await host.boot({ version: host.version, home, env, configFile, lock, flags: { port: '0' }, show: () => {} });
    try {
      return await stage.run((opened) => playAll(opened, plan, mock));
    } finally {
      await stage.stop('the drill is over');
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function shown(plan: Plan, scenes: readonly Scene[]): string {
  const { agentId, candidates } = plan;
  const cast = castOf(plan);
  const chain = candidates.map(({ model }) => {
    const profiles = cast.find((one) => one.model === model)?.profiles ?? [];
    const names = profiles.map(({ profile }) => profile.id.replace(`${profile.provider}:`, '')).join(', ');
    return `${model}${profiles.length === 0 ? bold(' (not to be had)') : profiles.length > 1 ? dim(` (${names})`) : ''}`;
  });
  const rows = [...Map.groupBy(scenes, ({ fault, again }) => `${fault} ${again}`).values()].flatMap(rowsOf);
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const head = `${bold(agentId)}: ${chain.join(' → ')}`;
  const lines = rows.map(([fault, where, way, end], i) => {
    const isFirst = rows[i - 1]?.[0] !== fault;
    return `${isFirst && i > 0 ? '\n' : ''}  ${bold((isFirst ? fault : '').padEnd(width(0)))}  ${where.padEnd(width(1))}  ${way}\n  ${' '.repeat(width(0) + width(1) + 2)}  ${end}`;
  });
  return [head, dim('each fault at each place; the model server is a mock, no provider is asked'), '', ...lines].join('\n');
}

/** Where it makes no difference in which place a fault is, it is told once. */
function rowsOf(scenes: readonly Scene[]): readonly (readonly [fault: string, where: string, way: string, end: string])[] {
  const rows = scenes.map((scene) => [scene.fault, scene.where, wayOf(scene), endOf(scene)] as const);
  const [first] = rows;
  const isOne = first && rows.length > 1 && rows.every(([, , way, end]) => way === first[2] && end === first[3]);
  return isOne ? [[first[0], 'anywhere', first[2], first[3]]] : rows;
}

const wayOf = ({ attempts }: Scene) =>
  attempts
    .map(({ model, profile, fault }) => `${model} as ${profile.replace(`${model.split('/')[0]}:`, '')} ${fault ? '✗' : '✓'}`)
    .join(' → ') || 'nothing asked';

function endOf({ answeredBy, error, waitedMs }: Scene): string {
  const waited = waitedMs === undefined ? '' : `after a wait of ${Math.round(waitedMs / 1000)} s `;
  if (answeredBy) return dim(`${waited}${answeredBy} answers`);
  if (error?.reason === 'context_overflow') return dim('no switch: the conversation is compacted, then the same model is asked');
  return dim(`${waited}the user reads: ${oneLine(error?.message ?? '', 160)} [${error?.code}]`);
}
