import { nearest } from '../../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../../cli/contract.ts';

const verbs = {
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  export: () => import('./export.ts'),
  reset: () => import('./reset.ts'),
  delete: () => import('./delete.ts'),
  compact: () => import('./compact.ts'),
  import: () => import('./import.ts'),
} satisfies Record<string, () => Promise<{ run: RunCommand }>>;

/** `instar sessions <verb>`; without one it lists. */
export const run: RunCommand = async ([verb = 'list', ...argv], host) => {
  if (verb.startsWith('-')) return (await verbs.list()).run([verb, ...argv], host);
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]()).run(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = `sessions has no "${verb}"${near ? `; did you mean "${near}"?` : ''}`;
  console.error(`instar: ${what}; usage: ${host.commands.get('sessions')?.usage}`);
  return exitCodes.usage;
};
