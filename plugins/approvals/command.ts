import { nearest } from '../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../cli/contract.ts';

const verbs = {
  list: async () => (await import('./commands/questions.ts')).list,
  allow: async () => (await import('./commands/questions.ts')).allow,
  deny: async () => (await import('./commands/questions.ts')).deny,
  allowlist: async () => (await import('./commands/allowlist.ts')).allowlist,
} satisfies Record<string, () => Promise<RunCommand>>;

/** `instar approvals <verb>`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]())(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = verb ? `approvals has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'approvals needs a verb';
  console.error(`instar: ${what}; usage: ${host.commands.get('approvals')?.usage}`);
  return exitCodes.usage;
};
