import { nearest } from '../../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../../cli/contract.ts';

const verbs = {
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  diff: () => import('./diff.ts'),
  new: () => import('./new.ts'),
} satisfies Record<string, () => Promise<{ run: RunCommand }>>;

/** `instar agents <verb>`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]()).run(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = verb ? `agents has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'agents needs a verb';
  console.error(`instar: ${what}; usage: ${host.commands.get('agents')?.usage}`);
  return exitCodes.usage;
};
