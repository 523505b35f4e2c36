import type { Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';

/** Of one agent. Tokens. */
export interface Settings {
  readonly isOn: boolean;
  readonly reserve: number;
  readonly keepRecent: number;
  readonly timeoutMs: number;
  readonly instructions: string | undefined;
}

export function settingsOf(run: Run, agentId: string): Settings {
  const agents = run.find(Agents);
  const field = <T>(name: string) => agents?.field<T>(agentId, `compaction.${name}`);
  return {
    isOn: field<string>('mode') !== 'off',
    reserve: field<number>('reserveTokens') ?? 16_384,
    keepRecent: field<number>('keepRecentTokens') ?? 20_000,
    timeoutMs: 1000 * (field<number>('timeoutSeconds') ?? 180),
    instructions: field<string>('customInstructions'),
  };
}
