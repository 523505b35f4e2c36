import { byVerb } from '../cli/contract.ts';

/** `instar drill <what>`. */
export const run = byVerb('drill', { failover: () => import('./failover.ts') });
