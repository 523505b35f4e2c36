import { definePlugin, RegisterTools } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { ToolAbsences } from '../policy/contract.ts';
import { Sessions } from '../sessions/contract.ts';
import { agentsList } from './agents-list.ts';
import { sessionStatus } from './session-status.ts';

export default definePlugin({
  name: 'tools-sessions',
  description: 'Tools session_status and agents_list: what an agent may know of its session and of the agents beside it',
  setup(ctx) {
    const tools = [
      { tool: agentsList, needs: Agents, brings: 'agents' },
      { tool: sessionStatus, needs: Sessions, brings: 'sessions' },
    ] as const;
    ctx.tap(RegisterTools, (all, run) => [...all, ...tools.filter(({ needs }) => run.find<unknown>(needs)).map(({ tool }) => tool)]);
    ctx.tap(ToolAbsences, (absences, run) => [
      ...absences,
      ...tools
        .filter(({ needs }) => !run.find<unknown>(needs))
        .map(({ tool, brings }) => ({ tool: tool.name, why: `plugin "${brings}" is not live` })),
    ]);
  },
});
