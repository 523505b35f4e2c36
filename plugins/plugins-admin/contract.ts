import type { Inspection, LeftOut, Swap } from '../../kernel/index.ts';

/**
 * WebSocket methods about plugins:
 *
 * - `plugins.list {}` → `PluginList`
 * - `plugins.inspect {name}` → `PluginDetail`
 * - `plugins.reload {name?}` → `Swap`: reads the config anew and this plugin's files (else those of all users' plugins);
 *   a rejection answers with its code, a line per fault, and the generation goes on
 */
export interface PluginList {
  readonly generation: number;
  readonly live: readonly LivePlugin[];
  readonly leftOut: readonly LeftOut[];
  /** Older generations that still have runs. */
  readonly retiring: Inspection['retiring'];
}

export type LivePlugin = Inspection['instances'][number];

export interface PluginDetail {
  readonly generation: number;
  /** Absent where the plugin is left out. */
  readonly live?: LivePlugin;
  readonly leftOut?: LeftOut;
}

export type Reloaded = Swap;
