import { nearest } from '../../../kernel/index.ts';
import { exitCodes, type RunCommand } from '../contract.ts';

const verbs = {
  list: () => import('./list.ts'),
  inspect: () => import('./inspect.ts'),
  reload: () => import('./reload.ts'),
  enable: () => import('./enable.ts'),
  disable: () => import('./disable.ts'),
  doctor: () => import('./doctor.ts'),
  new: () => import('./new.ts'),
  test: () => import('./test.ts'),
  install: () => import('./install.ts'),
  uninstall: () => import('./uninstall.ts'),
} satisfies Record<string, () => Promise<{ run: RunCommand }>>;

/** `instar plugins <verb>`. */
export const run: RunCommand = async ([verb = '', ...argv], host) => {
  if (Object.hasOwn(verbs, verb)) return (await verbs[verb as keyof typeof verbs]()).run(argv, host);
  const near = nearest(verb, Object.keys(verbs));
  const what = verb ? `plugins has no "${verb}"${near ? `; did you mean "${near}"?` : ''}` : 'plugins needs a verb';
  console.error(`instar: ${what}; usage: ${host.commands.get('plugins')?.usage}`);
  return exitCodes.usage;
};
