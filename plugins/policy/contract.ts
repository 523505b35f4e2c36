import { bail, service, type Subject, waterfall } from '../../kernel/index.ts';
import type { GroupRules, Member } from './contract/group-rules.ts';

export { groupRulesOf, type ChannelGroups, type GroupRules, type Member } from './contract/group-rules.ts';
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
 * Layer 2: whether the model's provider searches the web itself in turns of this Subject. Who sends the provider's own search
 * with a request answers, and so does who sends it only where the config says so. A pure function of the Subject.
 */
export const NativeSearch = bail<Subject, { readonly why: string; readonly path?: string }>('policy.nativeSearch');

/** The last step of layer 4: what the config says of tools in one group. Provided by whoever owns `channels`. */
export interface GroupTools {
  /** `channels.<channel>.groups.<id>` of this Subject, by `groupRulesOf`; undefined where nothing is said. A pure function of it. */
  rules(subject: Subject & Member): GroupRules | undefined;
}
export const GroupTools = service<GroupTools>('policy.groupTools');
