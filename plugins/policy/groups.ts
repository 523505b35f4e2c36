/** The tools that are known by name, in the sections of SPEC 2.1; which of them are here is for plugins to say. */
export const catalog = {
  Files: ['read', 'write', 'edit', 'apply_patch'],
  Runtime: ['exec', 'process', 'code_execution'],
  Web: ['web_search', 'web_fetch', 'x_search'],
  Memory: ['memory_search', 'memory_get'],
  Sessions: ['sessions_list', 'sessions_history', 'sessions_send', 'sessions_spawn', 'sessions_yield', 'subagents', 'session_status'],
  UI: ['browser', 'canvas'],
  Messaging: ['message'],
  Automation: ['cron', 'gateway'],
  Nodes: ['nodes'],
  Agents: ['agents_list'],
  Media: ['image', 'image_generate', 'tts'],
} as const;

export const catalogTools: readonly string[] = Object.values(catalog).flat();
const core: ReadonlySet<string> = new Set(catalogTools);
const hands: ReadonlySet<string> = new Set([...catalog.Files, 'exec', 'process']);

/** Tool names behind the `group:` names of policies. By name alone: a tool cannot put itself into a group. */
export const groups: Readonly<Record<string, readonly string[]>> = {
  'group:fs': catalog.Files,
  'group:runtime': catalog.Runtime,
  'group:web': catalog.Web,
  'group:memory': catalog.Memory,
  'group:sessions': catalog.Sessions,
  'group:ui': catalog.UI,
  'group:messaging': catalog.Messaging,
  'group:automation': catalog.Automation,
  'group:nodes': catalog.Nodes,
  'group:agents': catalog.Agents,
  'group:media': catalog.Media,
  'group:openclaw': catalogTools.filter((tool) => !hands.has(tool)),
};

/** `group:plugins`: what is not in the catalog, tools of MCP servers included. */
export const pluginGroup = 'group:plugins';
export const isPluginTool = (tool: string) => !core.has(tool);

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
