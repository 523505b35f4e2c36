import { parseArgs } from 'node:util';
import { byVerb, misused, type RunCommand } from '../../cli/contract.ts';
import type { Explanation } from '../contract.ts';
import { diff } from './diff.ts';
import { showExplanation } from './show.ts';

const one = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  agent: one,
  channel: one,
  sender: one,
  'sender-id': one,
  model: one,
  group: one,
  depth: one,
  sandboxed: flag,
  diff: one,
  json: flag,
} as const;

/** `instar policy explain`: asks the code that decides. */
const explain: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: withIds(argv), options });
  const { diff: file, json, depth, 'sender-id': senderId, ...rest } = values;
  if (depth !== undefined && !/^\d{1,3}$/.test(depth)) throw misused('--depth is a number: 0 is no sub-agent, 1 a child');
  const params = { ...rest, senderId, ...(depth !== undefined && { depth: Number(depth) }) };
  if (file !== undefined) return diff(file, params, host, json === true);
  const explanation = await host.ask<Explanation>('policy.explain', params);
  console.log(json ? JSON.stringify(explanation) : showExplanation(explanation));
  return 0;
};

/** Ids of groups on some platforms are negative: `--group -1001` is no further option. */
const withIds = (argv: readonly string[]) =>
  argv.flatMap((word, i) => {
    if (/^-\d+$/.test(word) && /^--(?:group|sender|sender-id)$/.test(argv[i - 1] ?? '')) return [];
    const next = argv[i + 1] ?? '';
    return [/^--(?:group|sender|sender-id)$/.test(word) && /^-\d+$/.test(next) ? `${word}=${next}` : word];
  });

export const run = byVerb('policy', { explain: async () => ({ run: explain }) });
