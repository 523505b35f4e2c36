import type { Run } from './run.ts';
import { bail, notify, service, waterfall } from './token.ts';

/** JSON Schema (draft 7), as ajv reads it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a turn is judged by. Frozen; taps of the kept points are pure functions of it. */
export interface Subject {
  readonly agent?: string;
  readonly channel?: string;
  readonly provider?: string;
  readonly model?: string;
  /** From stable ids that the transport proved; unknown is not an owner. */
  readonly sender?: 'owner' | 'known' | 'unknown' | 'internal';
  readonly group?: string;
  readonly session?: 'main' | 'direct' | 'group' | 'thread' | 'subagent' | 'cron' | 'ephemeral';
  readonly depth?: number;
  readonly sandboxed?: boolean;
}

export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };
/** `details` are for programs (page, logs) and never sent to the model. */
export type ToolResult = { readonly content: readonly Content[]; readonly details?: unknown; readonly isError?: boolean };

export interface Tool<A = never> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonSchema;
  readonly section?: string;
  /** Safe to run beside other calls of the same model reply. */
  readonly parallel?: boolean;
  readonly ownerOnly?: boolean;
  execute(args: A, call: ToolCall): ToolResult | Promise<ToolResult>;
}

/** One call as the tool sees it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly run: Run;
  readonly signal: AbortSignal;
  /** Shows partial output while the tool works; may be dropped under load. */
  update(partial: ToolResult): void;
}

/** One call as it is asked for. `args` are what the model gave; the kernel checks them. */
export type CallRequest = { readonly id: string; readonly name: string; readonly args: unknown; readonly onUpdate?: ToolCall['update'] };
/** What `policy.decide` judges. The arguments fit the tool's schema. */
export type ToolRequest = { readonly id: string; readonly tool: Tool; readonly args: Readonly<Record<string, unknown>> };
/** `rule` names what decided (a layer, a config path), for people who ask why. */
export type Verdict =
  | { readonly kind: 'allow'; readonly rule?: string }
  | { readonly kind: 'ask'; readonly why: string; readonly rule?: string }
  | { readonly kind: 'deny'; readonly why: string; readonly rule?: string };
/** The tools of one Subject, with what policy took away and why. */
export type Offer = { readonly tools: readonly Tool[]; readonly removed: readonly Removal[] };
export type Removal = { readonly tool: string; readonly why: string; readonly rule: string };

/** `from` is the smallest prompt mode that still holds this section. Default `full`. */
export type PromptSection = { readonly id: string; readonly text: string; readonly from?: 'none' | 'minimal' | 'full' };
/** Executes a turn. Input and outcome belong to the plugins that agree on them (plugins/turns/contract.ts). */
export type Runtime<Input = never, Outcome = unknown> = { readonly id: string; turn(input: Input, run: Run): Promise<Outcome> };

/** What came of a candidate, whose build began at `began` of `performance.now()` and took `ms`. */
export interface Swap {
  readonly generation: number;
  readonly built: readonly { readonly plugin: string; readonly why: string }[];
  readonly removed: readonly string[];
  readonly leftOut: readonly LeftOut[];
  readonly began: number;
  readonly ms: number;
}
/** A plugin that is not part of the generation, and the reason a person needs. */
export type LeftOut = { readonly plugin: string; readonly code: string; readonly why: string; readonly provides?: readonly string[] };

export const LoadConfig = waterfall<Readonly<Record<string, unknown>>>('config.load');
/** Kept per (Subject, versions): a pure function of them. */
export const RegisterTools = waterfall<readonly Tool[]>('tool.register');
/** After each tap the kernel keeps input ∩ output: a filter can only narrow. Give a reason in `removed`. */
export const FilterPolicy = waterfall<Offer>('policy.filter');
/** Every tap is asked and the strictest answer stands; a throw is a deny; no answer at all is a deny. */
export const DecideTool = bail<ToolRequest, Verdict>('policy.decide');
export const PromptSections = waterfall<readonly PromptSection[]>('prompt.sections');
export const SelectRuntime = bail<Subject, Runtime>('runtime.select');
/** Asked of the candidate before the swap; the first problem rejects it. */
export const CheckGeneration = bail<Readonly<{ plugins: readonly string[]; leftOut: readonly LeftOut[] }>, string>('generation.check');
export const GenerationSwapped = notify<Swap>('generation.swapped');
export const GenerationRejected = notify<{ readonly error: unknown; readonly generation: number }>('generation.rejected');

/** Asked when policy says `ask`. Without one, `ask` is a deny. */
export interface Approver {
  ask(request: ToolRequest, why: string, run: Run): Promise<{ readonly allowed: boolean; readonly why: string }>;
}
export const Approver = service<Approver>('policy.approver');
