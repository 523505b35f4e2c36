import type { Kernel } from '../kernel.ts';
import type { Swap } from '../points.ts';
import { service, waterfall } from '../token.ts';

export type { Fault, Values } from '../kernel.ts';
export { nearest } from './nearest.ts';

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
  /**
   * Reads the config anew, and the plugins that `changed` files belong to, and applies both; a rejection leaves everything as it is.
   * Plugins in `hard` are made anew with all that they lease: it is closed first, which is a gap; on failure the live code makes it again.
   */
  reload(changed?: readonly string[], hard?: readonly string[]): Promise<Swap>;
  /** Begins an orderly stop. */
  stop(why: string): void;
}
export const Host = service<Host>('host');

/** A config as its files had it at one moment. */
export interface ConfigText {
  readonly file: string | undefined;
  /** By absolute path: the main file and what it includes. Enough to read the same config again. */
  readonly texts: ReadonlyMap<string, string>;
  readonly values: Readonly<Record<string, unknown>>;
  /** Written for another product: an entry for a plugin that is not here is passed over. */
  readonly isForeign?: boolean;
  /** Variables that are not set, each with the way to the value that names it. */
  readonly problems: readonly { readonly path: string; readonly message: string; readonly keys: readonly string[] }[];
  /** `/home/a/.instar/instar.json5:12:7` of a config path or of its nearest written parent; without a text, the path. */
  readonly place: (path: string) => string;
}

/** Config paths as people write them: `a.b[0]["odd key"]`. */
export function joinKey(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}

/** Whether a name, of a key or a variable, says that the text it holds is shown to nobody. Wide on purpose: a session's key is hidden, too. */
export const isSecretName = (name: string) => /key|token|secret|passw|passphrase|credential/i.test(name);

/** Lines of the block that a start prints, and of `instar status`. */
export type ReportLine = { readonly label: string; readonly value: string };
export const StartReport = waterfall<readonly ReportLine[]>('host.report');
