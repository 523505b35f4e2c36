import { isMessage, type Message, type ShownMessage, summaryLead, type UserMessage } from './contract.ts';

/** A record on the branch that is in use, of whatever kind. */
export interface BranchRecord {
  readonly id: string;
  readonly type?: unknown;
  readonly timestamp?: unknown;
  readonly message?: unknown;
  readonly summary?: unknown;
  readonly content?: unknown;
  readonly firstKeptEntryId?: unknown;
}

/**
 * What of a branch is put before a model. A compaction's summary stands for all that lies before its first kept record;
 * of several, the last counts. A branch that was left speaks by its summary, an extension's message as a user's.
 */
export function shownRecords(branch: readonly BranchRecord[]): readonly ShownMessage[] {
  const at = branch.findLastIndex(({ type, summary }) => type === 'compaction' && typeof summary === 'string');
  const compaction = branch[at];
  if (!compaction) return branch.flatMap(shownOf);
  const first = branch.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  const kept = first < 0 ? [] : branch.slice(first, at);
  const summary = said(compaction, wrapped(summaryLead, compaction.summary));
  return [{ entryId: compaction.id, message: summary }, ...[...kept, ...branch.slice(at + 1)].flatMap(shownOf)];
}

export const shownMessages = (branch: readonly BranchRecord[]): readonly Message[] => shownRecords(branch).map(({ message }) => message);

const shownOf = (record: BranchRecord): readonly ShownMessage[] => messagesOf(record).map((message) => ({ entryId: record.id, message }));

function messagesOf(record: BranchRecord): readonly Message[] {
  const { type, message, summary, content } = record;
  if (type === 'message') return isMessage(message) ? [message] : spoken(record);
  if (type === 'custom_message') return asUser(record, content);
  if (type !== 'branch_summary' || typeof summary !== 'string' || !summary) return [];
  return [said(record, wrapped('An attempt before this point was left and taken up again here. Summary of it:', summary))];
}

/** Messages of roles that no provider knows: the described system sends them as a user's. */
function spoken(record: BranchRecord): readonly Message[] {
  const { role, content, command, output, excludeFromContext } = (record.message ?? {}) as Readonly<Record<string, unknown>>;
  if (role === 'custom' || role === 'hookMessage') return asUser(record, content);
  if (role !== 'bashExecution' || typeof command !== 'string' || excludeFromContext) return [];
  return [said(record, `I ran this in the terminal: ${command}\n\n${typeof output === 'string' && output ? output : '(no output)'}`)];
}

function asUser(record: BranchRecord, content: unknown): readonly Message[] {
  const message = { role: 'user', content, timestamp: timeOf(record) };
  return isMessage(message) ? [message] : [];
}

const said = (record: BranchRecord, content: string): UserMessage => ({ role: 'user', content, timestamp: timeOf(record) });

const timeOf = ({ timestamp }: BranchRecord) => Date.parse(String(timestamp)) || 0;

/** The mark's end cannot come from within. */
const wrapped = (lead: string, text: unknown) =>
  `${lead}\n\n<summary>\n${String(text).replaceAll('</summary>', '<\\/summary>')}\n</summary>`;
