import { parseArgs } from 'node:util';
import { bold, type CommandHost, dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { AgentShown, ShownField } from '../contract.ts';
import { agentIds } from './arguments.ts';
import { shortPlace, valueText } from './values.ts';

/** `instar agents show [ID]`: every value that counts for an agent, and where it comes from. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const [agentId] = agentIds(positionals, 0, 1);
  const shown = await host.ask<AgentShown>('agents.show', agentId === undefined ? {} : { agentId });
  console.log(values.json ? JSON.stringify(shown) : page(shown, host));
  return 0;
};

function page({ id, isDefault, fields }: AgentShown, host: CommandHost): string {
  const written = fields.filter(({ origin }) => origin !== 'built-in');
  const builtIn = fields.filter(({ origin }) => origin === 'built-in');
  const width = Math.max(...fields.map(({ field }) => field.length));
  const values = Math.min(40, Math.max(...fields.map(({ value }) => valueText(value).length)));
  const line = (field: ShownField) =>
    `  ${field.field.padEnd(width)}  ${oneLine(valueText(field.value), 200).padEnd(values)}  ${dim(originText(field, host))}`.trimEnd();
  const part = (title: string, of: readonly ShownField[]) => (of.length ? [`${dim(title)}\n${of.map(line).join('\n')}`] : []);
  const head = `${bold(id)}${isDefault ? dim(' the default agent') : ''}`;
  return [head, ...part('from the config', written), ...part('built in', builtIn)].join('\n');
}

function originText({ origin, place, why }: ShownField, host: CommandHost): string {
  const where = place && `${origin} ${shortPlace(place, host)}`;
  return [where, why && oneLine(why, 160)].filter(Boolean).join('; ');
}
