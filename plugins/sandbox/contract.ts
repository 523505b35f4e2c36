import { type Run, service, type Subject, waterfall } from '../../kernel/index.ts';
import type { Launch } from '../tools-exec/contract.ts';

/** Fields of an agent under `sandbox`, with the built-in values filled in. */
export interface SandboxSettings {
  readonly mode: 'off' | 'non-main' | 'all';
  /** Absent: the first that works here. */
  readonly backend?: string;
  readonly workspaceAccess: 'none' | 'ro' | 'rw';
  readonly scope: 'session' | 'agent' | 'shared';
  readonly network: boolean;
  readonly readable: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly limits: { readonly memoryMb: number; readonly processes: number; readonly fileMb: number };
  readonly docker: DockerSettings;
}

export interface DockerSettings {
  readonly image: string;
  readonly network?: string;
  readonly user?: string;
  readonly cpus?: number;
}

/** Whose sandbox is meant. Without a session key it is that of the agent's main session. */
export interface Whose {
  readonly agentId: string;
  readonly sessionKey?: string | undefined;
}

/** What the commands and file tools of a sandboxed run see. */
export interface World {
  readonly settings: SandboxSettings;
  /** Folder on this machine; it has the same path in the sandbox, and is `/workspace` there as well. */
  readonly workspace: string;
  readonly isWritable: boolean;
  /** Folders of the scope, on this machine. */
  readonly paths: { readonly tmp: string; readonly home: string; readonly accounts: string };
  /** Makes its folders. Why nothing can run in it, with what to do; undefined where it can. */
  exists(): Promise<string | undefined>;
  /** The launch that starts this one inside. Throws SANDBOX_UNAVAILABLE, never leads to the host. */
  wrap(launch: Launch): Promise<Launch>;
}

/** What isolates. `wrap` gets a world whose folders are there. */
export interface Backend {
  /** One line, such as `bubblewrap 0.8.0 (/usr/bin/bwrap)`, or why it does not work here and what to do. Cheap once it worked. */
  probe(settings: SandboxSettings, hostEnv: Inside['hostEnv']): Promise<Probe>;
  wrap(launch: Launch, inside: Inside): Launch;
}

export type Probe = { readonly works: true; readonly is: string } | { readonly works: false; readonly why: string };

/** What a backend shows inside: everything else of this machine's files is absent. */
export interface Inside {
  readonly settings: SandboxSettings;
  readonly workspace: string;
  readonly isWritable: boolean;
  readonly paths: World['paths'];
  /** In what is shown, it stays out of sight: the state folder, config, secrets. A workspace that lies in there is seen all the same. */
  readonly hidden: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** The gateway's environment, for what the backend itself needs; nothing of it goes inside. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** Names this gateway's containers. */
  readonly owner: string;
}

/** Backends by name, in the order in which they are tried where none is named. A plugin adds its own. */
export const SandboxBackends = waterfall<Readonly<Record<string, Backend>>>('sandbox.backends');

/** Whether a turn is sandboxed, and by which config value. */
export interface Confinement {
  readonly isSandboxed: boolean;
  readonly why: string;
  /** Config path of what decides. */
  readonly path: string;
}

export interface Sandbox {
  confines(agentId: string, session: Subject['session'], run: Run): Confinement;
  /** Folder that the tools of such a turn have as their workspace: the agent's, or one of the sandbox's own. */
  workspace(whose: Whose, run: Run): string;
  /** Undefined where the run is not sandboxed. Its agent and session are those of its Subject and Turn. */
  worldOf(run: Run): World | undefined;
}
export const Sandbox = service<Sandbox>('sandbox');

/**
 * Whether a mode confines such a session; one that no door called the main one is not. Asked also where the plugin is off or left out:
 * what the config wants confined is refused then.
 */
export const modeConfines = (mode: string | undefined, session: Subject['session']): boolean =>
  mode !== undefined && mode !== 'off' && !(mode === 'non-main' && session === 'main');

/** The workspace inside a sandbox, whichever folder it is outside. */
export const insideWorkspace = '/workspace';

/** A path as a sandboxed session says it, as the path outside that it means. */
export function outsidePath(path: string, workspace: string): string {
  return path === insideWorkspace || path.startsWith(`${insideWorkspace}/`) ? `${workspace}${path.slice(insideWorkspace.length)}` : path;
}

/** Answer of the gateway's method `sandbox.explain {agentId?, sessionKey?}`. */
export interface SandboxExplained {
  readonly agentId: string;
  readonly sessionKey?: string;
  /** One, where a session was named; else the main session and all others. */
  readonly sessions: readonly (Confinement & { readonly session: string; readonly place: string })[];
  readonly backends: readonly { readonly name: string; readonly works: boolean; readonly says: string; readonly isUsed: boolean }[];
  /** Absent where no session of the agent is sandboxed. */
  readonly world?: {
    readonly workspace: string;
    readonly workspaceAccess: SandboxSettings['workspaceAccess'];
    readonly scope: SandboxSettings['scope'];
    readonly network: boolean;
    readonly readable: readonly string[];
    readonly limits: SandboxSettings['limits'];
    readonly notes: readonly string[];
  };
}
