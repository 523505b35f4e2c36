import { byVerb } from '../contract.ts';

/** `instar plugins <verb>`. */
export const run = byVerb('plugins', {
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
});
