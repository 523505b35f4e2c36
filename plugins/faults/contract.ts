import { service } from '../../kernel/index.ts';

/** Something that a plugin did wrong while it ran: it registered late, left a timer behind, its disposer hung, its code threw. */
export interface Fault {
  /** Stays the same while the fault is repeated. */
  readonly id: string;
  readonly plugin: string;
  readonly code: string;
  /** What it did, without its name, and what to do: `left a timer behind; end it on ctx.signal or in ctx.defer`. */
  readonly message: string;
  /** `file:line` of the plugin's source, where known. */
  readonly place?: string;
  /** The one that was live when it last happened. A plugin that was made anew since may be mended. */
  readonly generation: number;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly first: number;
  readonly last: number;
}

export type NewFault = Pick<Fault, 'plugin' | 'code' | 'message' | 'place'>;

/**
 * The newest faults of plugins, some of each; a repeated one is one with a count. Outlives reloads (a lease).
 *
 * - Event `plugin_fault`: a `Fault`, at once when it is new; its repeats together, at most once a second.
 * - WebSocket method `plugins.faults {}` → `{faults: Fault[]}`, the newest first.
 */
export interface Faults {
  note(fault: NewFault): void;
  /** The newest first. */
  list(): readonly Fault[];
}

export const Faults = service<Faults>('faults');

/** Whether it happened to what is live now, by the generation since which its plugin is. */
export const isPresent = ({ generation }: Fault, since: number | undefined) => since !== undefined && generation >= since;
