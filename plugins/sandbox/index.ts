import { CheckGeneration, definePlugin, Host, PromptSections, type Run, StartReport } from '../../kernel/index.ts';
import { Agents, UsualFields } from '../agents/contract.ts';
import { Methods } from '../gateway/contract.ts';
import { WrapSpawn } from '../tools-exec/contract.ts';
import { AdmitMessage } from '../turns/contract.ts';
import { bubblewrap } from './bubblewrap.ts';
import { Sandbox, SandboxBackends } from './contract.ts';
import { docker, removeLeftovers } from './docker.ts';
import { explain } from './explain.ts';
import { sandboxSections } from './prompt.ts';
import { choose, ownerOf, sandbox, unknown, worldFor } from './sandbox.ts';
import { sandbox as field } from './schema.ts';
import { pathOf, settingsOf, usual } from './settings.ts';

export default definePlugin({
  name: 'sandbox',
  description: 'Where commands and file tools of an agent run: on this machine, or isolated by bubblewrap or Docker',
  config: {
    schema: { type: 'object', additionalProperties: false, properties: {} },
    extends: { 'agents.entry': { sandbox: field }, 'agents.defaults': { sandbox: field } },
  },
  needs: { host: Host },
  provides: [Sandbox],
  setup(ctx) {
    const { host } = ctx.needs;
    const backends = { bubblewrap: bubblewrap(), docker: docker() };
    ctx.provide(Sandbox, sandbox);
    ctx.tap(SandboxBackends, (others) => ({ ...backends, ...others }));
    ctx.tap(UsualFields, (fields) => ({ ...usual, ...fields }));
    ctx.tap(WrapSpawn, async (launch, run) =>
      launch.world === 'sandbox' ? launch : ((await sandbox.worldOf(run)?.wrap(launch)) ?? launch),
    );
    // A turn that could do nothing is refused as a whole: its sender learns why, and no model is asked.
    ctx.tap(AdmitMessage, async (incoming, run) => {
      const { agent: agentId, sandboxed } = run.subject;
      if (incoming.refused !== undefined || !sandboxed || agentId === undefined) return incoming;
      const refused = await worldFor({ agentId, sessionKey: incoming.sessionKey }, run).exists();
      return refused === undefined ? incoming : { ...incoming, refused };
    });
    ctx.tap(PromptSections, (sections, run) => sandboxSections(sections, run), { stage: 10 });
    ctx.tap(Methods, (methods) => ({ ...methods, 'sandbox.explain': explain }));
    ctx.tap(CheckGeneration, (_, run) => unknownBackends(run, (path) => host.place(path)));
    ctx.tap(StartReport, async (lines, run) => [...lines, ...(await reportLines(run))], 20);
    ctx.onLive(() => ctx.run((run) => sweep(run)));
  },
});

const sandboxed = (run: Run) => (run.find(Agents)?.ids ?? []).filter((id) => settingsOf(id, run).mode !== 'off');

async function unknownBackends(run: Run, place: (path: string) => string): Promise<string | undefined> {
  const names = Object.keys(await run.call(SandboxBackends, {}));
  const faults = (run.find(Agents)?.ids ?? []).flatMap((id) => {
    const { backend } = settingsOf(id, run);
    return backend === undefined || names.includes(backend) ? [] : [`${place(pathOf(id, 'backend', run))}: ${unknown(backend, names)}`];
  });
  return faults.length > 0 ? [...new Set(faults)].join('\n') : undefined;
}

async function reportLines(run: Run) {
  const lines = sandboxed(run).map(async (id) => {
    const chosen = await choose(settingsOf(id, run), run);
    return 'why' in chosen ? `${id} refuses to work: ${chosen.why}` : `${id} in ${chosen.name}`;
  });
  const said = await Promise.all(lines);
  return said.length > 0 ? [{ label: 'sandbox', value: said.join('; ') }] : [];
}

/** Containers of a gateway that was killed outright. */
async function sweep(run: Run) {
  const chosen = await Promise.all(sandboxed(run).map((id) => choose(settingsOf(id, run), run)));
  if (chosen.some((one) => 'name' in one && one.name === 'docker')) await removeLeftovers(ownerOf(run.get(Host).home), run.get(Host).env);
}
