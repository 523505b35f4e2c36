import { existsSync } from 'node:fs';
import type { RunCommand } from '../contract.ts';
import { readArguments } from './arguments.ts';
import { mainFile, openConfig } from './opened.ts';

/** `instar config path`: the files that the config is made of; the main one is named even where it is not there yet. */
export const run: RunCommand = async (argv, host) => {
  const { values } = readArguments(argv, ['json']);
  const main = mainFile(host);
  const files = openConfig(host).tree.sources.map(({ file }) => file);
  if (values.json) console.log(JSON.stringify({ file: main, exists: existsSync(main), files }));
  else console.log(files.join('\n'));
  if (!existsSync(main)) console.error('instar: it is not there yet; "instar config set" makes it');
  return 0;
};
