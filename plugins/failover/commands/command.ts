import { byVerb } from '../../cli/contract.ts';

/** `instar models <verb>`. */
export const run = byVerb('models', {
  list: () => import('./list.ts'),
  explain: () => import('./explain.ts'),
  doctor: () => import('./doctor.ts'),
  auth: () => import('./auth.ts'),
});
