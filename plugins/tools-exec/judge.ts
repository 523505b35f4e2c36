import type { Verdict } from '../../kernel/index.ts';

/** Config `tools.exec`. */
export interface ExecRules {
  readonly security: 'deny' | 'allowlist' | 'full';
  readonly ask: 'off' | 'on-miss' | 'always';
  readonly allow: readonly string[];
}

/** May this script run? Text against text: nothing is parsed, so whatever is not listed letter by letter is a miss. */
export function judge(script: string, { security, ask, allow }: ExecRules, place: (path: string) => string): Verdict {
  if (security === 'deny') return { kind: 'deny', why: 'tools.exec.security is "deny"', rule: place('tools.exec.security') };
  const listed = allow.indexOf(script);
  if (ask === 'always') return { kind: 'ask', why: script, rule: place('tools.exec.ask') };
  if (security === 'full') return { kind: 'allow', rule: place('tools.exec.security') };
  if (listed >= 0) return { kind: 'allow', rule: place(`tools.exec.allow[${listed}]`) };
  if (ask === 'on-miss') return { kind: 'ask', why: script, rule: place('tools.exec.allow') };
  return { kind: 'deny', why: 'not one of tools.exec.allow, and tools.exec.ask is "off"', rule: place('tools.exec.ask') };
}
