import { nearest } from '../../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../../cli/contract.ts';

const verbs = {
  list: () => import('./list.ts'),
  retry: () => import('./retry.ts'),
  drop: () => import('./drop.ts'),
} satisfies Record<string, () => Promise<{ run: RunCommand }>>;

/** `instar outbox <verb>`; without one it lists. */
export const run: RunCommand = async ([verb = 'list', ...argv], host) => {
  if (verb.startsWith('-')) return (await verbs.list()).run([verb, ...argv], host);
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]()).run(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = `outbox has no "${verb}"${near ? `; did you mean "${near}"?` : ''}`;
  console.error(`instar: ${what}; usage: ${host.commands.get('outbox')?.usage}`);
  return exitCodes.usage;
};
