import { waterfall } from '../../kernel/index.ts';

export { type IdleKey, idleKeys } from './contract/idle-keys.ts';

/** `severe`: somebody can take over now. `warning`: one more mistake, and he can. `note`: worth knowing. */
export type Severity = 'severe' | 'warning' | 'note';

/** Something in the installation that is less safe than it could be. It never holds a secret. */
export interface Finding {
  readonly severity: Severity;
  /** For programs, in kebab case; the same thing found twice has the same code. */
  readonly code: string;
  /** What was found, and what can come of it. */
  readonly message: string;
  /** The config path that says so, such as `agents.list[0].tools.exec.security`. */
  readonly path?: string;
  /** The file or folder that it is about. */
  readonly file?: string;
  /** The command that mends it, or what to do where no command can. */
  readonly mend: string;
  /** Bits that the mode of `file` has and must not have: `instar security audit --fix` takes them away. */
  readonly excess?: number;
}

/** Each plugin adds what it finds in its own config; `run` is one of the generation that is judged. Read only. */
export const SecurityFindings = waterfall<readonly Finding[]>('security.findings');

/** A finding with `file:line:column` of what causes it. */
export interface Placed extends Finding {
  readonly place: string;
}

/** Answer of the gateway's method `security.audit {}`: the worst first. */
export interface Audit {
  readonly findings: readonly Placed[];
  readonly counts: Readonly<Record<Severity, number>>;
}

/** A word as a shell takes it. */
export const quoted = (word: string) => (/^[\w./:@=,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The command that sets a config value; texts that look like something else are set as texts. */
export const setting = (path: string, value: unknown) =>
  `instar config set ${quoted(path)} ${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`;
