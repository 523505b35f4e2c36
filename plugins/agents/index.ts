import { definePlugin, Host, StartReport } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { Agents, type AgentsConfig, UsualFields, usualIn } from './contract.ts';
import { agentFaults } from './faults.ts';
import { overview, show } from './methods.ts';
import { resolveAgents } from './resolution.ts';
import { schema, shared } from './schema.ts';

export default definePlugin({
  name: 'agents',
  description: 'Agents as data: who they are and where they work',
  required: true,
  config: { at: 'agents', schema, faults: agentFaults },
  needs: { host: Host },
  provides: [Agents],
  setup(ctx) {
    const { host } = ctx.needs;
    const config = ctx.config as AgentsConfig;
    const agents = resolveAgents(config, host.home);
    ctx.provide(Agents, agents);
    ctx.tap(UsualFields, (fields) => ({ ...usualIn(shared), ...fields }));
    ctx.tap(Methods, (methods) => ({ ...methods, 'agents.overview': overview, 'agents.show': show }));
    ctx.tap(StartReport, (lines) => [...lines, { label: 'agents', value: agents.ids.map((id) => describe(agents, id)).join(', ') }], 10);
  },
});

function describe(agents: Agents, id: string): string {
  const name = agents.own(id)?.identity?.name ?? agents.own(id)?.name;
  const label = name && name !== id ? `${id} (${name})` : id;
  return agents.ids.length > 1 && id === agents.defaultId ? `${label}, the default` : label;
}
