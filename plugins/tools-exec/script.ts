/** Arguments of the exec tool, as its schema passes them. */
export interface ExecArgs {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly background?: boolean | undefined;
  readonly yieldMs?: number | undefined;
  readonly pty?: boolean | undefined;
}

/** The one text that is judged, shown to a person and executed: folder and variables are part of it. */
export function scriptOf({ command, cwd, env = {} }: ExecArgs): string {
  const folder = folderOf(cwd);
  return [
    ...(folder === '.' ? [] : [`cd -- ${quoted(folder)} || exit`]),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    command,
  ].join('; ');
}

/** Never an option, `-` or `~` to a shell. */
export const folderOf = (cwd = '.'): string => (cwd === '.' || cwd.startsWith('/') ? cwd : `./${cwd}`);

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
