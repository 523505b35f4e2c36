import { parseArgs } from 'node:util';
import { bold, dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { ModelLine } from '../contract.ts';

/** `instar models list`. */
export const run: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } } });
  const { models } = await host.ask<{ readonly models: readonly ModelLine[] }>('models.list');
  console.log(values.json ? JSON.stringify({ models }) : table(models));
  return 0;
};

function table(models: readonly ModelLine[]): string {
  const width = Math.max('model'.length, ...models.map(({ model }) => model.length));
  const head = dim(`  ${'model'.padEnd(width)}  ${'holds'.padStart(5)}  ${'can'.padEnd(12)}  used by`);
  const line = ({ model, contextWindow, input, reasoning, usedBy }: ModelLine) => {
    const can = [...(reasoning ? ['think'] : []), ...(input.includes('image') ? ['see'] : [])].join(', ');
    const facts = `${`${Math.round(contextWindow / 1000)}k`.padStart(5)}  ${can.padEnd(12)}`;
    return `  ${bold(oneLine(model, 80).padEnd(width))}  ${dim(facts)}  ${oneLine(usedBy.join(', '), 120)}`.trimEnd();
  };
  return [head, ...models.map(line)].join('\n');
}
