import { bail, type Subject, waterfall } from '../../kernel/index.ts';
import type { GroupRules, Member } from './contract/group-rules.ts';

export { groupFaults, groupRulesOf, groupToolsIn, type ChannelGroups, type GroupRules, type Member } from './contract/group-rules.ts';
export { NativeSearch, type ProviderSearch, SearchAnyway, searchOf, type SearchSettings } from './contract/native-search.ts';
export type { Explanation, Finding, LayerId, LayerLine, ToolDetail, ToolLine, ToolList, Verdicts } from './contract/explanation.ts';
export type { Difference, DifferenceLine } from './contract/difference.ts';

/** A tool that a plugin would bring but cannot here, and why: "set tools.web.search.apiKey". */
export interface ToolAbsence {
  readonly tool: string;
  readonly why: string;
}
/** SPEC 2.1: a tool that cannot work in this set-up is not registered; its plugin says here why. Asked only when somebody wants to know. */
export const ToolAbsences = waterfall<readonly ToolAbsence[]>('tools.absences');

/**
 * The last step of layer 4: what the config says of tools in the group of this Subject. Each channel answers for itself, with
 * `ctx.tap(GroupTools, groupToolsIn('telegram', config.groups))`; the keys `tools` and `toolsBySender` come to its schema where
 * that says `x-place: 'channels.group'`. A pure function of the Subject.
 */
export const GroupTools = bail<Subject & Member, GroupRules>('policy.groupTools');
