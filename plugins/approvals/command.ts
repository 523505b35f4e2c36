import { byVerb } from '../cli/contract.ts';

/** `instar approvals <verb>`. */
export const run = byVerb('approvals', {
  list: async () => ({ run: (await import('./commands/questions.ts')).list }),
  allow: async () => ({ run: (await import('./commands/questions.ts')).allow }),
  deny: async () => ({ run: (await import('./commands/questions.ts')).deny }),
  allowlist: async () => ({ run: (await import('./commands/allowlist.ts')).allowlist }),
});
