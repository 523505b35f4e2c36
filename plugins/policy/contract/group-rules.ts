/** Beside what a Subject has: who sent it, by the id that the transport proved. */
export interface Member {
  readonly senderId?: string;
  readonly accountId?: string;
}

interface Lists {
  readonly allow?: readonly string[];
  readonly alsoAllow?: readonly string[];
  readonly deny?: readonly string[];
}

/** What counts in one group for one sender, and the config path that says so. */
export interface GroupRules {
  readonly path: string;
  readonly rules: Lists;
}

/** Config `channels.<channel>.groups`: by id; `*` is every group that has no rules of its own. */
export type ChannelGroups = Readonly<
  Record<string, { readonly tools?: Lists; readonly toolsBySender?: Readonly<Record<string, Lists>> } | undefined>
>;

/**
 * The group's rules for this sender, else its rules, else those of `*` for this sender, else those of `*`. `at` is the path of
 * `groups`. Senders are told by their stable id alone (`123`, `id:123`, `e164:+49…`): a name can be changed to another's.
 */
export function groupRulesOf(groups: ChannelGroups, at: string, group: string, senderId?: string): GroupRules | undefined {
  for (const id of [group, '*']) {
    const entry = Object.hasOwn(groups, id) ? groups[id] : undefined;
    const path = `${at}[${JSON.stringify(id)}]`;
    const bySender = entry?.toolsBySender ?? {};
    const key = keyOf(bySender, senderId);
    const rules = key === undefined ? undefined : bySender[key];
    if (key !== undefined && rules) return { path: `${path}.toolsBySender[${JSON.stringify(key)}]`, rules };
    if (entry?.tools) return { path: `${path}.tools`, rules: entry.tools };
  }
  return undefined;
}

/** Compared exactly; an empty id is nobody's. */
function keyOf(bySender: object, senderId: string | undefined): string | undefined {
  const keys = Object.keys(bySender);
  const own = senderId ? keys.find((key) => key.replace(/^(?:id|e164):/, '') === senderId && key !== '*') : undefined;
  return own ?? keys.find((key) => key === '*');
}
