import { byVerb } from '../../cli/contract.ts';

/** `instar outbox <verb>`; without one it lists. */
export const run = byVerb(
  'outbox',
  {
    list: () => import('./list.ts'),
    retry: () => import('./retry.ts'),
    drop: () => import('./drop.ts'),
  },
  'list',
);
