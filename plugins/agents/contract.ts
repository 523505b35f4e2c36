import { type JsonSchema, service, waterfall } from '../../kernel/index.ts';

export type AgentModel = string | { readonly primary?: string; readonly fallbacks?: readonly string[] };

/** An agent as the config has it: only its own fields. */
export interface AgentEntry {
  readonly id: string;
  readonly default?: boolean;
  readonly name?: string;
  readonly workspace?: string;
  readonly agentDir?: string;
  readonly model?: AgentModel;
  readonly identity?: { readonly name?: string; readonly theme?: string; readonly emoji?: string; readonly avatar?: string };
  readonly thinkingDefault?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** The config's `agents`. */
export interface AgentsConfig {
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly list?: readonly AgentEntry[];
}

/** Config resolution of SPEC 1.2. Ask late (`run.get(Agents)`): agents change while others run. */
export interface Agents {
  readonly ids: readonly string[];
  readonly defaultId: string;
  /** What counts for every agent that does not say otherwise: `agents.defaults`. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** The config path of an agent, `agents.list[2]`. */
  path(id: string): string;
  /** Only the agent's own fields; undefined where there is none. */
  own(id: string): AgentEntry | undefined;
  /** One field, such as `skills` or `subagents.maxSpawnDepth`: the agent's own value, else that of `agents.defaults`, by nullish fallback. */
  field<T = unknown>(id: string, field: string): T | undefined;
  /** Explicit id, else from the session key (`agent:<id>:…`), else the default. */
  sessionAgent(query: { readonly agentId?: string | undefined; readonly sessionKey?: string | undefined }): string;
  /** Absolute folder, `~` expanded; made at first use by whoever writes there. */
  workspace(id: string): string;
  /** `<home>/agents/<id>`, or the agent's `agentDir`. */
  dir(id: string): string;
}

export const Agents = service<Agents>('agents');

/**
 * What fields of an agent are where nobody sets them, by path: `subagents.maxSpawnDepth`. `instar agents show` prints it.
 * A plugin that adds fields by `extends` taps it with `usualIn` of their schemas.
 */
export const UsualFields = waterfall<Readonly<Record<string, unknown>>>('agents.usual');

/**
 * The built-in values in the schemas of fields: their `x-default`. Not `default`, which a check would fill in at the agent,
 * so that the value in `agents.defaults` would never count.
 */
export function usualIn(properties: JsonSchema, at = ''): Readonly<Record<string, unknown>> {
  const entries = Object.entries(properties as Readonly<Record<string, JsonSchema>>).flatMap(([key, field]) => {
    const path = at ? `${at}.${key}` : key;
    const below = Object.entries(usualIn((field['properties'] ?? {}) as JsonSchema, path));
    return 'x-default' in field ? [[path, field['x-default']] as const, ...below] : below;
  });
  return Object.fromEntries(entries);
}

/** An agent's models in the order in which they are tried. A chain given explicitly, even an empty one, replaces that of the defaults. */
export function modelChain(
  agents: Pick<Agents, 'own' | 'defaults'>,
  id: string,
): { readonly primary?: string; readonly fallbacks: readonly string[] } {
  const own = spread(agents.own(id)?.model);
  const usual = spread(agents.defaults['model'] as AgentModel | undefined);
  const primary = own.primary ?? usual.primary;
  return { ...(primary && { primary }), fallbacks: own.fallbacks ?? usual.fallbacks ?? [] };
}

const spread = (model: AgentModel | undefined) => (typeof model === 'string' ? { primary: model, fallbacks: undefined } : (model ?? {}));

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `1h30m` in milliseconds; a bare number, also as text, is minutes. Undefined where it is neither. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 && Number.isFinite(value) ? value * 60_000 : undefined;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 60_000;
  if (!/^(\d+(\.\d+)?\s*(ms|s|m|h|d)\s*)+$/i.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)/gi)];
  return parts.reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (unitMs[unit.toLowerCase()] ?? 0), 0);
}

/** One of the agents in the answer of the gateway's method `agents.overview {}`. */
export interface AgentLine {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
  /** Absent where no model is to be had. */
  readonly model?: string;
  readonly workspace: string;
}

/** Answer of the gateway's method `agents.show {agentId?}`: every value that counts for this agent, and where it comes from. */
export interface AgentShown {
  readonly id: string;
  readonly isDefault: boolean;
  readonly fields: readonly ShownField[];
}

export interface ShownField {
  /** `model.primary`, `tools.deny`. */
  readonly field: string;
  readonly value: unknown;
  readonly origin: 'agent' | 'defaults' | 'built-in';
  /** The config path that holds it, and `file:line:column` of that; absent where it is built in. */
  readonly path?: string;
  readonly place?: string;
  /** What made it of what is written. */
  readonly why?: string;
}
