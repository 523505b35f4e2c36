import { nearest } from '../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../cli/contract.ts';

const verbs = { failover: () => import('./failover.ts') } satisfies Record<string, () => Promise<{ run: RunCommand }>>;

/** `instar drill <what>`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]()).run(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = verb ? `drill has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'drill needs a name';
  console.error(`instar: ${what}; usage: ${host.commands.get('drill')?.usage}`);
  return exitCodes.usage;
};
