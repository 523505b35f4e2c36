import { parseArgs } from 'node:util';
import { bold, dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { AgentLine } from '../contract.ts';

/** `instar agents list`. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } } });
  const { agents } = await host.ask<{ readonly agents: readonly AgentLine[] }>('agents.overview');
  console.log(values.json ? JSON.stringify({ agents }) : table(agents));
  return 0;
};

function table(agents: readonly AgentLine[]): string {
  const width = (of: (line: AgentLine) => string) => Math.max(...agents.map((line) => of(line).length));
  const [ids, models, folders] = [width(({ id }) => id), width(({ model = '' }) => model), width(({ workspace }) => workspace)];
  const line = ({ id, name, isDefault, model = '', workspace }: AgentLine) => {
    const more = [isDefault && agents.length > 1 ? 'the default' : '', name === id ? '' : oneLine(name)].filter(Boolean).join(', ');
    return `  ${bold(id.padEnd(ids))}  ${model.padEnd(models)}  ${dim(more ? workspace.padEnd(folders) : workspace)}${more && `  ${more}`}`;
  };
  return agents.map(line).join('\n');
}
