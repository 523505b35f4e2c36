import { expect, test } from 'vitest';
import { catalogTools, groups, profiles } from '../../../plugins/policy/groups.ts';
import { findPattern } from '../../../plugins/policy/patterns.ts';

test('SPEC 2.1: the catalog has 29 tools', () => {
  expect(catalogTools).toHaveLength(29);
  expect(new Set(catalogTools).size).toBe(29);
});

test.each([
  ['minimal', 'session_status'],
  [
    'coding',
    'read write edit apply_patch exec process code_execution web_search web_fetch x_search memory_search memory_get sessions_list ' +
      'sessions_history sessions_send sessions_spawn sessions_yield subagents session_status cron image image_generate',
  ],
  ['messaging', 'sessions_list sessions_history sessions_send session_status message'],
  ['full', catalogTools.join(' ')],
] as const)('SPEC 3.4: profile %s has exactly its members', (profile, members) => {
  expect(catalogTools.filter((tool) => findPattern(profiles[profile], tool) >= 0).join(' ')).toBe(members);
});

test.each([
  ['group:fs', 'read write edit apply_patch'],
  ['group:runtime', 'exec process code_execution'],
  ['group:web', 'web_search web_fetch x_search'],
  ['group:memory', 'memory_search memory_get'],
  ['group:sessions', 'sessions_list sessions_history sessions_send sessions_spawn sessions_yield subagents session_status'],
  ['group:ui', 'browser canvas'],
  ['group:messaging', 'message'],
  ['group:automation', 'cron gateway'],
  ['group:nodes', 'nodes'],
  ['group:agents', 'agents_list'],
  ['group:media', 'image image_generate tts'],
])('SPEC 3.4: %s has exactly its members', (group, members) => {
  expect(groups[group]?.join(' ')).toBe(members);
});
