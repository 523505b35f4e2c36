import { parseArgs } from 'node:util';
import { dim, misused, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { ActiveItem } from '../contract.ts';

/** `instar inbox list`: what runs and waits now. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const other = positionals.find((word, i) => i > 0 || word !== 'list');
  if (other !== undefined) throw misused(`inbox has no "${other}"`);
  const { items } = await host.ask<{ readonly items: readonly ActiveItem[] }>('inbox.list');
  if (values.json) console.log(JSON.stringify({ items }));
  else console.log(items.length ? table(items) : 'Nothing runs, and no message waits.');
  return 0;
};

function table(items: readonly ActiveItem[]): string {
  const width = Math.max(...items.map(({ sessionKey }) => oneLine(sessionKey, 60).length));
  const age = (since: number) => `${Math.max(0, Math.round((Date.now() - since) / 1000))} s`;
  return items
    .map(({ sessionKey, state, since, lane, mode }) => {
      const facts = `${state === 'running' ? `lane ${lane}` : `${mode}, lane ${lane}`}, ${age(since)}`;
      return `  ${state.padEnd(7)}  ${oneLine(sessionKey, 60).padEnd(width)}  ${dim(facts)}`;
    })
    .join('\n');
}
