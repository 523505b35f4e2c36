import { defineTool, text, type Tool } from '../../kernel/index.ts';
import { Agents, modelChain } from '../agents/contract.ts';
import { Turn } from '../turns/contract.ts';

export const agentsList: Tool = defineTool({
  name: 'agents_list',
  description: 'List the agents that this one may start as sub-agents.',
  section: 'Agents',
  parallel: true,
  parameters: { type: 'object', additionalProperties: false, properties: {} },
  execute(_args, { run }) {
    const agents = run.get(Agents);
    const self = run.subject.agent ?? run.find(Turn)?.agentId ?? agents.defaultId;
    const named = agents.field<readonly string[]>(self, 'subagents.allowAgents') ?? [];
    const all = named.includes('*');
    // An id that is named and not there cannot be started: it is not shown.
    const allowed = agents.ids.filter((id) => id === self || all || named.includes(id));
    const lines = allowed.map((id) => {
      const { primary } = modelChain(agents, id);
      const name = agents.own(id)?.identity?.name ?? agents.own(id)?.name;
      return { id, ...(name && name !== id && { name }), ...(primary && { model: primary }), ...(id === self && { isSelf: true }) };
    });
    const rows = lines.map(
      ({ id, name, model, isSelf }) => `- ${[`${id}${isSelf ? ' (you)' : ''}`, name, model].filter(Boolean).join(' · ')}`,
    );
    const hidden = agents.ids.length - allowed.length;
    const rest =
      hidden > 0 ? [`[${hidden} more ${hidden > 1 ? 'agents are' : 'agent is'} not allowed by subagents.allowAgents of "${self}"]`] : [];
    return { ...text([...rows, ...rest].join('\n')), details: { requester: self, allowAny: all, agents: lines } };
  },
});
