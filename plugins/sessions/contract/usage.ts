import type { Usage } from '../contract.ts';

/** What two requests took together. A cost is told where one of them has one. */
export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  totalTokens: a.totalTokens + b.totalTokens,
  ...((a.cost ?? b.cost) && { cost: { total: (a.cost?.total ?? 0) + (b.cost?.total ?? 0) } }),
});
