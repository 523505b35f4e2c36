import { parseArgs } from 'node:util';
import { byVerb, type RunCommand } from '../../cli/contract.ts';
import type { Explanation, ToolDetail, ToolList } from '../contract.ts';
import { showDetail, showMissing, showTools } from './show.ts';

const options = { json: { type: 'boolean' } } as const;

const list: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options });
  return print(await host.ask<ToolList>('tools.list'), showTools, values.json);
};

const explain: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const [tool] = positionals;
  if (tool === undefined) return print(await host.ask<Explanation>('policy.explain'), showMissing, values.json);
  return print(await host.ask<ToolDetail>('tools.explain', { tool }), showDetail, values.json);
};

function print<T>(answer: T, show: (answer: T) => string, json = false): number {
  console.log(json ? JSON.stringify(answer) : show(answer));
  return 0;
}

/** `instar tools list`, `instar tools explain [TOOL]`. */
export const run = byVerb('tools', { list: async () => ({ run: list }), explain: async () => ({ run: explain }) });
