import { nearest } from '../../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../../cli/contract.ts';

const verbs = {
  list: () => import('./list.ts'),
  explain: () => import('./explain.ts'),
  doctor: () => import('./doctor.ts'),
  auth: () => import('./auth.ts'),
} satisfies Record<string, () => Promise<{ run: RunCommand }>>;

/** `instar models <verb>`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]()).run(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = verb ? `models has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'models needs a verb';
  console.error(`instar: ${what}; usage: ${host.commands.get('models')?.usage}`);
  return exitCodes.usage;
};
