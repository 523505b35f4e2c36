import { nearest } from '../../../kernel/index.ts';
import { loadCommand } from '../commands.ts';
import { exitCodes, type RunCommand } from '../contract.ts';

type Verb = () => Promise<{ run: RunCommand }>;

const verbs: Readonly<Record<string, Verb>> = {
  get: () => import('./get.ts'),
  set: () => import('./set.ts'),
  unset: () => import('./unset.ts'),
  edit: () => import('./edit.ts'),
  diff: () => import('./diff.ts'),
  history: () => import('./log.ts'),
  undo: () => import('./undo.ts'),
  path: () => import('./where.ts'),
};

const own = 'config ';

/** `instar config <verb>`. A verb of another plugin is an entry `config <verb>` of its `commands.json`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  const others = [...host.commands].filter(([name]) => name.startsWith(own));
  const more = others.map(([name, one]): [string, Verb] => [name.slice(own.length), async () => ({ run: await loadCommand(name, one) })]);
  const all = new Map([...Object.entries(verbs), ...more]);
  const found = all.get(verb);
  if (found) return (await found()).run(argv, host);
  const near = nearest(verb, all.keys());
  const what = verb ? `config has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'config needs a verb';
  console.error(`instar: ${what}; usage: ${host.commands.get('config')?.usage}`);
  return exitCodes.usage;
};
