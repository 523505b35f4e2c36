import { byVerb } from '../../cli/contract.ts';

/** `instar sessions <verb>`; without one it lists. */
export const run = byVerb(
  'sessions',
  {
    list: () => import('./list.ts'),
    show: () => import('./show.ts'),
    export: () => import('./export.ts'),
    reset: () => import('./reset.ts'),
    delete: () => import('./delete.ts'),
    compact: () => import('./compact.ts'),
    import: () => import('./import.ts'),
  },
  'list',
);
