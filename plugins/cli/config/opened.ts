import { join } from 'node:path';
import type { CommandHost } from '../contract.ts';
import type { Change } from './change.ts';
import { readText } from './files.ts';
import { type History, openHistory } from './history.ts';
import { openTree, type Tree } from './layers.ts';
import type { Plan } from './plan.ts';

type Place = Pick<CommandHost, 'home' | 'configFile'>;

/** The config as its files are now, in its places. */
export interface Opened {
  readonly tree: Tree;
  readonly history: History;
  /** What a plan changes, in the terms of the disk: a config that is not there yet has no text before. */
  readonly change: (plan: Plan, what: string) => Change;
}

const empty = '{\n}\n';

/** The config file of this command, which may not be there yet. */
export const mainFile = ({ home, configFile }: Place) => configFile ?? join(home, 'instar.json5');

/** Throws CONFIG_TEXT. Whoever looks at the config first writes down what others did to it. */
export function openConfig(host: Place): Opened {
  const main = mainFile(host);
  const texts = new Map<string, string | undefined>();
  const tree = openTree(main, (file) => {
    const text = readText(file);
    texts.set(file, text);
    return text ?? (file === main ? empty : undefined);
  });
  const history = openHistory(host.home);
  for (const [file, text] of texts) history.notice(file, text);
  const change: Opened['change'] = ({ file, after }, what) => ({ file, before: texts.get(file), after, what });
  return { tree, history, change };
}
