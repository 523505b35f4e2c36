import type { Inspection, LeftOut, Swap } from '../../kernel/index.ts';
import type { Fault } from '../faults/contract.ts';

/**
 * WebSocket methods about plugins:
 *
 * - `plugins.list {}` → `PluginList`
 * - `plugins.inspect {name}` → `PluginDetail`
 * - `plugins.reload {name?, hard?}` → `Swap`: reads the config anew and this plugin's files (else those of all users' plugins);
 *   a rejection answers with its code, a line per fault, and the generation goes on. `hard`, of one plugin: what it leases
 *   (sockets, child processes) is closed and made anew with it, and made again by the live code where that fails
 */
export interface PluginList {
  readonly generation: number;
  readonly live: readonly LivePlugin[];
  readonly leftOut: readonly LeftOut[];
  /** Older generations that still have runs. */
  readonly retiring: Inspection['retiring'];
  /** What plugins did wrong while they ran, the newest first. */
  readonly faults: readonly Fault[];
}

export type LivePlugin = Inspection['instances'][number];

export interface PluginDetail {
  readonly generation: number;
  /** Absent where the plugin is left out. */
  readonly live?: LivePlugin;
  readonly leftOut?: LeftOut;
  readonly faults: readonly Fault[];
}

export type Reloaded = Swap;
