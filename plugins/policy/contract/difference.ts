import type { LayerId } from './explanation.ts';

/** One tool that an agent would gain or lose. */
export interface DifferenceLine {
  readonly agent: string;
  readonly tool: string;
  readonly change: 'gained' | 'lost';
  /** For whom, of those that were compared: `owner`, `unknown sender`, `sub-agent`, `sandboxed`. */
  readonly when: readonly string[];
  /** What takes it away: in the candidate where it is lost, in the live config where it is gained. */
  readonly why: string;
  readonly layer?: LayerId;
  readonly path?: string;
}

/**
 * Answer of `policy.diff {candidate: {tools?, agents?, channels?}, …}`, with the parameters of `policy.explain`: what a config would
 * change for whom. Nothing of it goes live.
 */
export interface Difference {
  readonly generation: number;
  readonly compared: readonly string[];
  readonly lines: readonly DifferenceLine[];
  readonly agents: { readonly added: readonly string[]; readonly removed: readonly string[]; readonly same: readonly string[] };
}
