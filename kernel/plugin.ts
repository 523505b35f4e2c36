import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import type { Fault, Values } from './kernel.ts';
import type { Leasable } from './lease.ts';
import type { Log } from './log.ts';
import type { JsonSchema, Subject, Tool, ToolResult } from './points.ts';
import type { EnterRun, Run } from './run.ts';
import type { Hook, Service } from './token.ts';

export type Needs = Readonly<Record<string, Service<unknown>>>;
export type Resolved<N extends Needs> = { readonly [K in keyof N]: N[K] extends Service<infer T> ? T : never };

/** Where among the taps of a hook, and for kept points what else the answer depends on. */
export interface TapOptions {
  /** Lower runs earlier. Default 0; ties run in plugin order. */
  readonly stage?: number;
  /** For tool.register, policy.filter, prompt.sections: changes whenever the tap's answer for this Subject would. Cheap. */
  readonly version?: (subject: Subject) => string | number;
}

/** What a plugin is handed in `setup`. All of it but `run`, `log`, `defer` is for setup only. */
export interface Context<N extends Needs = Needs, C = unknown> {
  readonly config: C;
  readonly needs: Resolved<N>;
  /** Aborts when this instance leaves the current generation: stop taking in work. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Opens a run on the current generation; valid after this instance is gone. Before the swap it waits for it. */
  readonly run: EnterRun;
  tap<V, const R>(hook: Hook<V, R>, fn: (value: V, run: Run) => R | Promise<R>, options?: TapOptions | number): void;
  provide<T>(token: Service<T>, value: NoInfer<T>): void;
  /** A live resource that outlives reloads, shared by key and counted by holders. */
  lease<T extends Leasable>(key: string, create: () => T | Promise<T>): Promise<T>;
  /** Undone in reverse when no run can need this instance any more. */
  defer(dispose: () => void | Promise<void>): void;
  /** After the swap: start taking in work here, never in setup. */
  onLive(start: () => void | Promise<void>): void;
}

/** The whole config as it is being checked; `place` is `file:line:column` of a path. Values may not fit their schemas. */
export type Around = { readonly home: string; readonly config: Values; readonly place: (path: string) => string };

export interface PluginConfig<S = JsonSchema> {
  /** The config path this plugin owns. Default `plugins.entries.<name>.config`. */
  readonly at?: string;
  /** `x-place: 'agents.entry'` opens an object to other plugins' `extends`; `x-contained: true` marks a map of blocks that fail alone. */
  readonly schema: S;
  /** What no schema can tell of the owned value, such as a name of nobody. Pure. */
  readonly faults?: (value: unknown, around: Around) => readonly Fault[];
  /** Properties added at places that other plugins opened. */
  readonly extends?: Readonly<Record<string, JsonSchema>>;
}

/** A plugin: static facts and one `setup`. Its module must have no side effects. */
export interface Plugin<N extends Needs = Needs, C = never> {
  readonly name: string;
  readonly description: string;
  /** `config` plugins are built first, from the text's values, and may tap `config.load`. */
  readonly phase?: 'config';
  readonly config?: PluginConfig;
  readonly needs?: N;
  readonly provides?: readonly Service<unknown>[];
  /** The gateway cannot run without it: its fault stops the boot or rejects the candidate. */
  readonly required?: boolean;
  setup(ctx: Context<N, C>): void | Promise<void>;
}

/** Asked late and not as a constraint: the union of all schemas is too much for inference. */
type Value<S> = S extends JSONSchema ? FromSchema<S> : undefined;

/** Declares a plugin; the type of `ctx.config` comes from its schema, of `ctx.needs` from its tokens. */
export function definePlugin<const S extends JsonSchema | undefined = undefined, const N extends Needs = {}>(
  plugin: Omit<Plugin<N, Value<S>>, 'config'> & { readonly config?: PluginConfig<S> },
): Plugin {
  return plugin as unknown as Plugin;
}

/** Declares a tool; the type of its arguments comes from its parameters. */
export function defineTool<const S extends JsonSchema>(tool: Tool<Value<S>> & { readonly parameters: S }): Tool {
  return tool;
}

/** A tool result of plain text. */
export const text = (said: string): ToolResult => ({ content: [{ type: 'text', text: said }] });
