import type { Usage } from '../sessions/contract.ts';

export function add(a: Usage, b: Usage): Usage {
  const cost = (a.cost?.total ?? 0) + (b.cost?.total ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    ...(cost && { cost: { total: cost } }),
  };
}
