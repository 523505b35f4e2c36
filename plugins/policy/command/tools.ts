import { parseArgs } from 'node:util';
import { nearest } from '../../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../../cli/contract.ts';
import type { Explanation, ToolDetail, ToolList } from '../contract.ts';
import { showDetail, showMissing, showTools } from './show.ts';

const verbs = ['list', 'explain'];

/** `instar tools list`, `instar tools explain [TOOL]`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (!verbs.includes(verb)) {
    const near = nearest(verb, verbs);
    const what = verb ? `tools has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'tools needs a verb';
    console.error(`instar: ${what}; usage: ${host.commands.get('tools')?.usage}`);
    return exitCodes.usage;
  }
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const [tool] = positionals;
  const print = <T>(answer: T, show: (answer: T) => string) => console.log(values.json ? JSON.stringify(answer) : show(answer));
  if (verb === 'list') print(await host.ask<ToolList>('tools.list'), showTools);
  else if (tool !== undefined) print(await host.ask<ToolDetail>('tools.explain', { tool }), showDetail);
  else print(await host.ask<Explanation>('policy.explain'), showMissing);
  return 0;
};
