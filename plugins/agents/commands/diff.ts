import { isDeepStrictEqual, parseArgs } from 'node:util';
import { bold, columns, type CommandHost, dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { AgentShown, ShownField } from '../contract.ts';
import { agentIds } from './arguments.ts';
import { shortPlace, valueText } from './values.ts';

interface Difference {
  readonly field: string;
  /** Absent where it counts for one of them only. */
  readonly first?: ShownField;
  readonly second?: ShownField;
}

/** `instar agents diff A B`: the fields whose values differ. Exits with 0 either way. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const [one = '', other = ''] = agentIds(positionals, 2, 2);
  const shown = (agentId: string) => host.ask<AgentShown>('agents.show', { agentId });
  const [first, second] = [await shown(one), await shown(other)];
  const differences = differencesOf(first, second);
  if (values.json) console.log(JSON.stringify({ agents: [first.id, second.id], differences }));
  else console.log(page(first.id, second.id, differences, host));
  return 0;
};

export function differencesOf(first: AgentShown, second: AgentShown): readonly Difference[] {
  const names = [...new Set([...first.fields, ...second.fields].map(({ field }) => field))];
  const of = ({ fields }: AgentShown, name: string) => fields.find(({ field }) => field === name);
  return names.flatMap((field) => {
    const [a, b] = [of(first, field), of(second, field)];
    return isDeepStrictEqual(a?.value, b?.value) ? [] : [{ field, ...(a && { first: a }), ...(b && { second: b }) }];
  });
}

function page(one: string, other: string, differences: readonly Difference[], host: CommandHost): string {
  if (differences.length === 0) return `${one} and ${other} do not differ`;
  const text = (shown: ShownField | undefined) => (shown ? oneLine(valueText(shown.value), 200) : '');
  const width = Math.min(40, Math.max(...differences.flatMap(({ first, second }) => [text(first).length, text(second).length])));
  const labels = Math.max(one.length, other.length);
  const side = (label: string, shown: ShownField | undefined) => {
    const from = shown?.place ? `${shown.origin} ${shortPlace(shown.place, host)}` : shown?.origin;
    return { label: `  ${label.padEnd(labels)}`, value: shown ? `${text(shown).padEnd(width)}  ${dim(from ?? '')}` : dim('not set') };
  };
  return differences.map(({ field, first, second }) => `${bold(field)}\n${columns([side(one, first), side(other, second)])}`).join('\n');
}
