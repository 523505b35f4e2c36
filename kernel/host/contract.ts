import type { Kernel } from '../kernel.ts';
import type { Swap } from '../points.ts';
import { service, waterfall } from '../token.ts';

export type Inspection = ReturnType<Kernel['inspect']>;

/** What the process around the kernel tells plugins, and does for them. Always there: `needs: { host: Host }` or `run.get(Host)`. */
export interface Host {
  /** The state folder, absolute. */
  readonly home: string;
  readonly version: string;
  readonly configFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Command line options of the process, e.g. `port`. They win over config. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** `instar.json5:12:7` of a config path such as `agents.list[0].model`; the path itself where the text has none. */
  place(path: string): string;
  /** Tells other processes of this state folder how to reach this one. */
  announce(facts: Readonly<Record<string, unknown>>): void;
  inspect(): Inspection;
  /** Absolute paths: config files, folders where plugins may appear, files that live plugins were made of. */
  sources(): { readonly config: readonly string[]; readonly roots: readonly string[]; readonly plugins: readonly string[] };
  /** Reads config and plugins anew and applies them; `changed` files alone are loaded again where given. A rejection leaves everything as it is. */
  reload(changed?: readonly string[]): Promise<Swap>;
  /** Begins an orderly stop. */
  stop(why: string): void;
}
export const Host = service<Host>('host');

/** Lines of the block that a start prints, and of `instar status`. */
export type ReportLine = { readonly label: string; readonly value: string };
export const StartReport = waterfall<readonly ReportLine[]>('host.report');
