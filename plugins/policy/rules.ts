import type { Subject } from '../../kernel/index.ts';
import type { LayerId, Member, ProviderSearch } from './contract.ts';
import type { Profile } from './groups.ts';

/** What one place in the config says about tools. */
export interface ToolRules {
  readonly profile?: Profile | undefined;
  /** Adds to the profile, and to nothing else. */
  readonly alsoAllow?: readonly string[] | undefined;
  /** Only these. An empty list is a list: it allows nothing. */
  readonly allow?: readonly string[] | undefined;
  /** Wins over `allow`. */
  readonly deny?: readonly string[] | undefined;
}

/** `tools.sandbox.tools`, `tools.subagents.tools`: here `alsoAllow` gives back what is lost by default. */
export type Confined = Omit<ToolRules, 'profile'>;

/** Config `tools`, globally or of one agent. */
export interface ToolConfig extends ToolRules {
  /** By `provider` or `provider/model`. */
  readonly byProvider?: Readonly<Record<string, ToolRules>> | undefined;
  readonly sandbox?: { readonly tools?: Confined | undefined } | undefined;
  /** Global alone. */
  readonly subagents?: { readonly tools?: Confined | undefined } | undefined;
}

/** Rules with their config path, e.g. `agents.list[0].tools`. */
export interface Placed<R = ToolConfig> {
  readonly path: string;
  readonly rules: R;
}

/** A config as the layers read it: of a generation, or of a candidate that nobody runs yet. */
export interface Ruling {
  readonly tools: Placed;
  /** The agent's own `tools`, else those of the defaults. */
  agent(id: string): Placed | undefined;
  maxSpawnDepth(id: string): { readonly depth: number; readonly path: string };
}

/** Whom a tool is judged for, by which rules. */
export interface Standing {
  readonly subject: Subject & Member;
  readonly ruling: Ruling;
  /** The provider's own web search, where it is active. */
  readonly native: Pick<ProviderSearch, 'why' | 'path'> | undefined;
  /** Those of the group it is in. */
  readonly group: Placed<Confined> | undefined;
}

/** Why a tool is not available. */
export interface Refusal {
  readonly layer: LayerId;
  readonly why: string;
  /** What decided where no config does: "owner only". */
  readonly rule: string;
  /** The config path that says so. */
  readonly path?: string;
}

/** As much of a tool as policy goes by. */
export interface Judged {
  readonly name: string;
  readonly ownerOnly?: boolean;
}

/** One of the five of SPEC 3. It can only refuse. */
export interface Layer {
  readonly id: LayerId;
  /** Its place among the taps of policy.filter. */
  readonly stage: number;
  judge(tool: Judged, standing: Standing): Refusal | undefined;
  /** At the call alone: what the arguments add. */
  judgeCall?(tool: Judged, args: Readonly<Record<string, unknown>>, standing: Standing): Refusal | undefined;
}

/** Everybody's but the sub-agents' own: depth says it too, whatever the session is called. */
export const isSubagent = ({ session, depth = 0 }: Subject) => session === 'subagent' || depth > 0;
