/** Tool names behind the `group:` names of policies: the sections of the catalog (SPEC 2.1). */
export const groups: Readonly<Record<string, readonly string[]>> = {
  'group:fs': ['read', 'write', 'edit', 'apply_patch'],
  'group:runtime': ['exec', 'process', 'code_execution'],
  'group:web': ['web_search', 'web_fetch', 'x_search'],
  'group:memory': ['memory_search', 'memory_get'],
  'group:sessions': [
    'sessions_list',
    'sessions_history',
    'sessions_send',
    'sessions_spawn',
    'sessions_yield',
    'subagents',
    'session_status',
  ],
  'group:ui': ['browser', 'canvas'],
  'group:messaging': ['message'],
  'group:automation': ['cron', 'gateway'],
  'group:nodes': ['nodes'],
  'group:agents': ['agents_list'],
  'group:media': ['image', 'image_generate', 'tts'],
};

/** What a profile leaves of the catalog, before `alsoAllow`. */
export const profiles = {
  minimal: ['session_status'],
  coding: ['group:fs', 'group:runtime', 'group:web', 'group:memory', 'group:sessions', 'cron', 'image', 'image_generate'],
  messaging: ['group:messaging', 'sessions_list', 'sessions_history', 'sessions_send', 'session_status'],
  full: ['*'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Profile = keyof typeof profiles;

/** For owners alone, whichever plugin brings them. */
export const ownerOnly: ReadonlySet<string> = new Set(['cron', 'gateway', 'nodes', 'whatsapp_login']);

/** The first pattern that names the tool: a name, one with `*`, or a group. */
export const findPattern = (patterns: readonly string[], tool: string): number =>
  patterns.findIndex((pattern) => groups[pattern]?.includes(tool) ?? matches(pattern, tool));

function matches(pattern: string, tool: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'i').test(tool);
}
