import { byVerb } from '../../cli/contract.ts';

/** `instar agents <verb>`. */
export const run = byVerb('agents', {
  list: () => import('./list.ts'),
  show: () => import('./show.ts'),
  diff: () => import('./diff.ts'),
  new: () => import('./new.ts'),
});
