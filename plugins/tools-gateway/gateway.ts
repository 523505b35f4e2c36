import { defineTool, Host, isCoded, messageOf, type Run, text, type Tool, type ToolResult } from '../../kernel/index.ts';
import { Inbox } from '../inbox/contract.ts';
import { configAt } from './config.ts';

export const gatewayTool: Tool = defineTool({
  name: 'gateway',
  description:
    'For the owner: "status" of the gateway and its plugins; "config.get" shows the config as written, secrets hidden; "reload" applies the files as they are now. ' +
    'Settings are changed by the owner ("instar config set"), not by this tool.',
  section: 'Automation',
  ownerOnly: true,
  parameters: {
    type: 'object',
    required: ['action'],
    additionalProperties: false,
    properties: {
      action: { type: 'string', enum: ['status', 'config.get', 'reload'] },
      path: { type: 'string', maxLength: 300, description: 'For config.get, such as agents.list[0].model. Default: all' },
    },
  },
  async execute({ action, path }, { run }) {
    if (action === 'status') return status(run);
    return action === 'reload' ? reload(run) : text(await configAt(path ?? '', run.get(Host)));
  },
});

function status(run: Run): ToolResult {
  const host = run.get(Host);
  const { generation, instances, leftOut, retiring } = host.inspect();
  const active = run.find(Inbox)?.active() ?? [];
  const lines = [
    `version: ${host.version}`,
    `generation: ${generation}${retiring.length > 0 ? `; ${retiring.length} older one${retiring.length > 1 ? 's' : ''} end with their runs` : ''}`,
    `config: ${host.configFile ?? 'none'}`,
    `turns: ${active.filter(({ state }) => state === 'running').length} running, ${active.filter(({ state }) => state === 'waiting').length} waiting`,
    `plugins: ${instances.map(({ plugin }) => plugin).join(', ')}`,
    ...leftOut.map(({ plugin, code, why }) => `left out: ${plugin}: ${code}: ${why}`),
  ];
  return { ...text(lines.join('\n')), details: { generation, leftOut } };
}

/** The turn goes on with the code that it began with; what is new counts from the next one. */
async function reload(run: Run): Promise<ToolResult> {
  try {
    const before = run.get(Host).inspect().generation;
    const { generation, built, removed, leftOut, ms } = await run.get(Host).reload([]);
    if (generation === before) return text(`nothing has changed: generation ${generation} goes on`);
    const said = [
      `generation ${generation} is live after ${Math.round(ms)} ms; this turn ends on the one before`,
      `made anew: ${built.map(({ plugin }) => plugin).join(', ') || 'nothing'}`,
      ...(removed.length > 0 ? [`gone: ${removed.join(', ')}`] : []),
      ...leftOut.map(({ plugin, why }) => `left out: ${plugin}: ${why}`),
    ];
    return text(said.join('\n'));
  } catch (error) {
    return {
      ...text(`the reload was rejected, and everything goes on as it was:\n${isCoded(error) ? `${error.code}: ` : ''}${messageOf(error)}`),
      isError: true,
    };
  }
}
