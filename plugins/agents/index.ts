import { definePlugin, Host, KernelError, StartReport } from '../../kernel/index.ts';
import { Agents, type AgentEntry } from './contract.ts';
import { resolveAgents } from './resolution.ts';
import { schema } from './schema.ts';

export default definePlugin({
  name: 'agents',
  description: 'Agents as data: who they are and where they work',
  required: true,
  config: { at: 'agents', schema },
  needs: { host: Host },
  provides: [Agents],
  setup(ctx) {
    const { host } = ctx.needs;
    const entries = (ctx.config.list ?? []) as readonly AgentEntry[];
    refuseDoubles(entries, (i) => host.place(`agents.list[${i}].id`));
    const agents = resolveAgents(entries, ctx.config.defaults ?? {}, host);
    ctx.provide(Agents, agents);
    ctx.tap(StartReport, (lines) => [...lines, { label: 'agents', value: agents.ids.map((id) => describe(agents, id)).join(', ') }], 10);
  },
});

/** SPEC 1.3: a second agent of the same id would be dropped in silence elsewhere. */
function refuseDoubles(entries: readonly AgentEntry[], place: (index: number) => string) {
  entries.forEach((entry, i) => {
    const first = entries.findIndex((other) => other.id === entry.id);
    if (first === i) return;
    throw new KernelError('AGENT_DUPLICATE', `${place(i)}: agent "${entry.id}" is there already at ${place(first)}; rename or remove one`);
  });
}

function describe(agents: Agents, id: string): string {
  const name = agents.own(id)?.identity?.name ?? agents.own(id)?.name;
  const label = name && name !== id ? `${id} (${name})` : id;
  return agents.ids.length > 1 && id === agents.defaultId ? `${label}, the default` : label;
}
