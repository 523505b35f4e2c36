import type { Usage } from '../sessions/contract.ts';

export function sum(usages: readonly Usage[]): Usage | undefined {
  if (usages.length === 0) return undefined;
  const of = (field: Exclude<keyof Usage, 'cost'>) => usages.reduce((total, usage) => total + usage[field], 0);
  const cost = usages.reduce((total, usage) => total + (usage.cost?.total ?? 0), 0);
  return {
    input: of('input'),
    output: of('output'),
    cacheRead: of('cacheRead'),
    cacheWrite: of('cacheWrite'),
    totalTokens: of('totalTokens'),
    ...(cost && { cost: { total: cost } }),
  };
}
