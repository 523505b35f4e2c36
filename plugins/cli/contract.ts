import type { ConfigText, EnterRun, LogRecord } from '../../kernel/index.ts';

export type { ConfigText };

// For the commands of other plugins: how we print, what we exit with, how a verb is found.
export { exitCodes } from './contract/exit-codes.ts';
export { misused } from './contract/misuse.ts';
export { byVerb } from './contract/verbs.ts';
export { bold, columns, dim, hanging, oneLine, plain } from './contract/terminal.ts';

/** `node:diagnostics_channel` whose stores hold an `Origin` while code of a user's plugin runs, and in all that it begins. */
export const originChannel = 'instar.origin';
export interface Origin {
  readonly plugin: string;
  readonly part: 'setup' | 'live' | 'lease' | 'run';
  /** One for each setup. */
  readonly instance: object;
}

/**
 * An entry of a plugin's `commands.json`: `{ "<command>": { summary, usage, verbs?, module } }`. The module is named relative to
 * that file, is imported only when the command is called, and exports `run: RunCommand`. Of commands of one name, ours is
 * first, then that of the plugin found first.
 */
export interface Command {
  readonly summary: string;
  readonly usage: string;
  /** Of a command with verbs: `"inspect NAME [--json]"` → what that does. Their first words are the verbs. */
  readonly verbs?: Readonly<Record<string, string>>;
  readonly module: string;
  /** Which of the user's plugins brings it. Not in the file. */
  readonly plugin?: string;
}

/** Resolves to the exit code. A throw is printed as one line with its code, and exits with 1. */
export type RunCommand = (argv: readonly string[], host: CommandHost) => Promise<number>;

/** What a command is handed: where it runs, and what the process can do for it. */
export interface CommandHost extends Surroundings, Omit<ProcessHost, 'boot'> {
  readonly boot: (options: BootOptions) => Promise<Booted>;
  readonly commands: ReadonlyMap<string, Command>;
  /** The config as its text has it; throws CONFIG_TEXT. No plugin is asked. */
  readonly readConfig: (file: string | undefined, env: Surroundings['env']) => Promise<ConfigText>;
  /** One call of a gateway method: of the running gateway, else of one that this process runs for as long. */
  readonly ask: <T>(method: string, params?: Readonly<Record<string, unknown>>) => Promise<T>;
}

export interface Surroundings {
  readonly version: string;
  /** The state folder, absolute; it may not exist yet. */
  readonly home: string;
  /** The process's environment, and beneath it `<home>/.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configFile: string | undefined;
}

/** The host side of the process, as bin.js joins it with us. */
export interface ProcessHost {
  /** Undefined where another process has the state folder. */
  readonly takeLock: (home: string, mode: Holder['mode']) => Promise<Lock | undefined>;
  /** Who said last that it has the state folder; it may be gone. */
  readonly readHolder: (home: string) => Promise<Holder | undefined>;
  /** A gateway in this process, which takes the lock over; rejects with BOOT_FAILED, a line per fault. */
  readonly boot: (options: Omit<BootOptions, 'env'> & Provisions) => Promise<HostBooted>;
}

type ReadFile = (file: string) => string;

/** What this plugin brings to a gateway: a log, and the making of users' plugins. */
export interface Provisions {
  /** Read again at each reload: `.env` may have changed. */
  readonly env: () => Surroundings['env'];
  /** Text of config files → values. `read` takes the files' texts from elsewhere than the disk. */
  readonly readConfig: (file: string | undefined, env: Surroundings['env'], read?: ReadFile) => ConfigText;
  /** For the boot alone: texts of the last known good config. */
  readonly read?: ReadFile;
  readonly log: LogFile;
  readonly bundle: (entry: string) => Promise<{ readonly value: unknown; readonly codeHash: string; readonly files: readonly string[] }>;
}

export interface LogFile {
  readonly sink: (record: LogRecord) => void;
  /** As `sink`, but shown to nobody. */
  readonly quiet: (record: LogRecord) => void;
  /** From now on, strings whose name says that they are secret are written by none of us. */
  readonly hide: (values: Readonly<Record<string, unknown>>) => void;
  readonly flush: () => void;
  readonly close: () => void;
}

export interface Holder {
  readonly pid: number;
  /** `command`: a terminal command that brought its own gateway and leaves with it. */
  readonly mode: 'gateway' | 'command';
  /** ISO time. */
  readonly started: string;
  /** Such as `url`, where it listens. */
  readonly [fact: string]: unknown;
}

export interface Lock {
  readonly announce: (facts: object) => void;
  readonly release: () => void;
}

export interface BootOptions extends Surroundings {
  readonly lock: Lock;
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** Keeps a config that was live for so long as the last known good one. */
  readonly goodAfterMs?: number;
  /** Is told of warnings and errors. */
  readonly show?: (line: string) => void;
}

export interface Booted extends HostBooted {
  /** What a person must know first, such as that an older config is in use. */
  readonly notices: readonly string[];
}

export interface HostBooted {
  readonly run: EnterRun;
  /** The config files' texts, as they are live. */
  readonly texts: () => ReadonlyMap<string, string> | undefined;
  /** Waits for the runs, disposes everything, lets the lock go. */
  readonly stop: (why: string, code?: number) => Promise<void>;
  /** Ends the runs' signals, so that a stop need not wait for their natural end. */
  readonly abort: (why: string) => void;
  /** Settles after the stop, with the exit code. */
  readonly stopped: Promise<number>;
}
