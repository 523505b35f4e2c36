/** SPEC 4.3. */
export type ApprovalClass =
  | 'readonly_scoped'
  | 'readonly_search'
  | 'mutating'
  | 'exec_capable'
  | 'control_plane'
  | 'interactive'
  | 'other'
  | 'unknown';

const tools = (names: string) => names.split(' ');

/** The one table: which tools are of which class, and whether a call passes by itself where nobody was asked (ACP, MCP). */
export const classes: readonly { readonly class: ApprovalClass; readonly passes: boolean; readonly tools: readonly string[] }[] = [
  { class: 'readonly_scoped', passes: true, tools: ['read'] },
  { class: 'readonly_search', passes: true, tools: tools('search web_search memory_search') },
  { class: 'mutating', passes: false, tools: tools('write edit apply_patch delete move fs_write fs_delete fs_move') },
  { class: 'exec_capable', passes: false, tools: tools('exec spawn shell bash process nodes code_execution') },
  { class: 'control_plane', passes: false, tools: tools('gateway cron sessions_spawn sessions_send session_status') },
  { class: 'interactive', passes: false, tools: ['whatsapp_login'] },
  {
    class: 'other',
    passes: false,
    tools: tools(
      'web_fetch x_search memory_get sessions_list sessions_history sessions_yield subagents browser canvas message agents_list image image_generate tts',
    ),
  },
];

/** What a permission request says. `path` only counts for `read`: its real path must lie in `cwd`. */
export interface Requested {
  /** The exact tool name of a trusted source; a title or a kind that the asking side chose is none. */
  readonly tool: string | undefined;
  readonly path?: string | undefined;
  readonly cwd?: string | undefined;
  /** The asking side says that it changes something: then nothing passes. */
  readonly changesState?: boolean;
}

export interface Classified {
  readonly class: ApprovalClass;
  readonly passes: boolean;
  readonly why: string;
}

/** Never passes what it does not know: an unknown name, or a `read` of which nobody proved that it stays in its folder. */
export function classOf({ tool, changesState = false }: Omit<Requested, 'path' | 'cwd'>, isInFolder: boolean): Classified {
  const row = classes.find((each) => tool !== undefined && each.tools.includes(tool));
  if (!row) {
    const why = tool === undefined ? 'the request names no tool' : `"${tool}" is no tool of the table`;
    return { class: 'unknown', passes: false, why };
  }
  if (changesState) return { class: row.passes ? 'mutating' : row.class, passes: false, why: 'it changes something' };
  if (row.class !== 'readonly_scoped') return { class: row.class, passes: row.passes, why: `"${tool}" is ${row.class}` };
  if (isInFolder) return { class: 'readonly_scoped', passes: true, why: 'it reads inside the working folder' };
  return { class: 'other', passes: false, why: 'it reads outside the working folder, or names no file' };
}
