import { type Around, type Fault, messageOf, nearest } from '../../kernel/index.ts';
import type { Agents } from '../agents/contract.ts';
import { type Called, compilePattern } from './mentions.ts';

/** The agent that a binding means: ids of existing configs may differ in case. */
export function agentOf(asked: string, ids: readonly string[]): string | undefined {
  const lower = asked.trim().toLowerCase();
  return ids.find((id) => id === asked) ?? ids.find((id) => id.toLowerCase() === lower);
}

/** SPEC 1.3: bindings that name nobody. Of values that may not have their form. */
export function danglingFaults(bindings: unknown, { config }: Around): readonly Fault[] {
  const { list } = (config['agents'] ?? {}) as { readonly list?: readonly { readonly id?: unknown }[] };
  const listed = (Array.isArray(list) ? list : []).flatMap((entry) => (typeof entry?.id === 'string' ? [entry.id] : []));
  const ids = listed.length ? listed : ['main'];
  return (Array.isArray(bindings) ? (bindings as readonly { readonly agentId?: unknown }[]) : []).flatMap((binding, i) => {
    const agentId = binding?.agentId;
    if (typeof agentId !== 'string' || agentOf(agentId, ids)) return [];
    const near = nearest(agentId, ids);
    const instead = near ? `did you mean "${near}"?` : `agents here: ${ids.join(', ')}`;
    return [{ path: `bindings[${i}].agentId`, message: `there is no agent "${agentId}"; ${instead}` }];
  });
}

/** Mention patterns that cannot be used, a line each. Late, for what compiles them is loaded at its first use. */
export async function patternFaults(agents: Agents, place: (path: string) => string): Promise<readonly string[]> {
  const all = [
    { path: 'agents.defaults', groupChat: agents.defaults['groupChat'] },
    ...agents.ids.map((id) => ({ path: agents.path(id), groupChat: agents.own(id)?.['groupChat'] })),
  ];
  const written = all.flatMap(({ path, groupChat }) =>
    ((groupChat as Called['groupChat'])?.mentionPatterns ?? []).map((pattern, i) => ({
      path: `${path}.groupChat.mentionPatterns[${i}]`,
      pattern,
    })),
  );
  const checked = written.map(({ path, pattern }) =>
    compilePattern(pattern).then(
      () => [],
      (error: unknown) => [at(place, path, messageOf(error))],
    ),
  );
  return (await Promise.all(checked)).flat();
}

function at(place: (path: string) => string, path: string, what: string): string {
  const where = place(path);
  return where === path ? `${path}: ${what}` : `${where} ${path}: ${what}`;
}
