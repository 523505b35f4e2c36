import { service } from '../../kernel/index.ts';

/** An agent as the config has it: only its own fields. */
export interface AgentEntry {
  readonly id: string;
  readonly default?: boolean;
  readonly name?: string;
  readonly workspace?: string;
  readonly agentDir?: string;
  readonly model?: string | { readonly primary?: string; readonly fallbacks?: readonly string[] };
  readonly identity?: { readonly name?: string; readonly theme?: string; readonly emoji?: string; readonly avatar?: string };
  readonly thinkingDefault?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** Config resolution of SPEC 1.2. Ask late (`run.get(Agents)`): agents change while others run. */
export interface Agents {
  readonly ids: readonly string[];
  readonly defaultId: string;
  /** Only the agent's own fields; undefined where there is none. */
  own(id: string): AgentEntry | undefined;
  /** One field: the agent's own value, else `agents.defaults`, by nullish fallback. */
  field<T = unknown>(id: string, field: string): T | undefined;
  /** Explicit id, else from the session key (`agent:<id>:…`), else the default. */
  sessionAgent(query: { readonly agentId?: string | undefined; readonly sessionKey?: string | undefined }): string;
  /** Absolute folder, `~` expanded; made at first use by whoever writes there. */
  workspace(id: string): string;
  /** `<home>/agents/<id>`, or the agent's `agentDir`. */
  dir(id: string): string;
}

export const Agents = service<Agents>('agents');
