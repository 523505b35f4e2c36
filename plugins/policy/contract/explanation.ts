import type { Subject } from '../../../kernel/index.ts';
import type { Member } from './group-rules.ts';

/** SPEC 3, in order; `plugin` is a filter of another plugin, between or after them. */
export type LayerId = 'channel' | 'provider' | 'owner' | 'config' | 'confinement' | 'plugin';

/** What became of one tool. */
export interface ToolLine {
  readonly tool: string;
  /** `passed` is offered. `absent` is known but not here: no plugin brings it, or it cannot work. */
  readonly state: 'passed' | 'removed' | 'absent';
  /** As in the catalog, e.g. `Files`; `Plugins` is all else. */
  readonly section: string;
  /** Where it did not pass. */
  readonly why?: string;
  readonly layer?: LayerId;
  readonly rule?: string;
  /** The config path that decided, and `file:line:column` of it. */
  readonly path?: string;
  readonly place?: string;
  /** Passed, but every call is judged by its arguments too. */
  readonly judgedByCall?: boolean;
}

/** What is left after a layer. */
export interface LayerLine {
  readonly layer: LayerId;
  readonly left: number;
  readonly removed: readonly string[];
}

/** Something in the rules that is most likely not what was meant. */
export interface Finding {
  readonly code: 'unknown-name' | 'names-nothing' | 'no-tools' | 'no-profile' | 'hidden';
  /** What it is and what to do, one line. */
  readonly message: string;
  readonly path: string;
  readonly place: string;
  readonly agent?: string;
}

/** Answer of `policy.explain {agent?, channel?, sender?, senderId?, model?, group?, session?, depth?, sandboxed?}`. */
export interface Explanation {
  /** What was judged, with what counted where nothing was asked. */
  readonly subject: Subject & Member;
  readonly generation: number;
  readonly tools: readonly ToolLine[];
  readonly layers: readonly LayerLine[];
  readonly findings: readonly Finding[];
}

/** Answer of `tools.list {}`: what is registered, and what is known but cannot work here. */
export interface ToolList {
  readonly here: readonly { readonly tool: string; readonly section: string; readonly description: string }[];
  readonly absent: readonly { readonly tool: string; readonly section: string; readonly why: string }[];
}

/** One outcome, of an agent, and for whom it is so. */
export interface Verdicts {
  readonly agent: string;
  readonly when: readonly string[];
  readonly line: ToolLine;
}

/** Answer of `tools.explain {tool}`. */
export interface ToolDetail {
  readonly tool: string;
  readonly section: string;
  /** Not registered: why. */
  readonly absent?: string;
  readonly description?: string;
  readonly verdicts: readonly Verdicts[];
}
