import type { Subject } from '../../../kernel/index.ts';

/** Beside what a Subject has: who sent it. Only a door sets it, and only from what its transport proved. */
export interface Member {
  /** The platform's own id of the person, which nobody can take over: never a name. */
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

/** The tap of a channel. `at` where its groups are not at `channels.<channel>.groups`. */
export const groupToolsIn =
  (channel: string, groups: ChannelGroups = {}, at = `channels.${channel}.groups`) =>
  (subject: Subject & Member): GroupRules | undefined =>
    subject.channel === channel && subject.group !== undefined ? groupRulesOf(groups, at, subject.group, subject.senderId) : undefined;

/** For a channel's `config.faults`: rules for a sender that would never count. */
export const groupFaults = (groups: ChannelGroups = {}, at: string): readonly { readonly path: string; readonly message: string }[] =>
  Object.entries(groups).flatMap(([id, entry]) =>
    Object.keys(entry?.toolsBySender ?? {})
      .filter((key) => /^(?:name|username|channel):|^@|^$/.test(key))
      .map((key) => ({
        path: `${at}[${JSON.stringify(id)}].toolsBySender[${JSON.stringify(key)}]`,
        message: `a sender is told by a stable id ("123", "id:123", "e164:+49…"), never by a name, which can become another's`,
      })),
  );

/** Compared exactly; an empty id is nobody's. */
function keyOf(bySender: object, senderId: string | undefined): string | undefined {
  const keys = Object.keys(bySender);
  const own = senderId ? keys.find((key) => key.replace(/^(?:id|e164):/, '') === senderId && key !== '*') : undefined;
  return own ?? keys.find((key) => key === '*');
}
