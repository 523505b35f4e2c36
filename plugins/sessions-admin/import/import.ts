import { isAbsolute } from 'node:path';
import type { Run } from '../../../kernel/index.ts';
import { Agents } from '../../agents/contract.ts';
import { Events } from '../../events/contract.ts';
import { refusal } from '../../gateway/contract.ts';
import { Inbox } from '../../inbox/contract.ts';
import { Sessions } from '../../sessions/contract.ts';
import type { ImportedSession, ImportReport } from '../contract.ts';
import { type Import, importSession } from './session-import.ts';
import { type Candidate, type Owner, readIndex, type Rejected } from './session-index.ts';
import { sourcesOf } from './sources.ts';

export interface ImportRequest {
  /** Absolute. */
  readonly dir: string;
  readonly dryRun: boolean;
  readonly replace: boolean;
  /** Transcripts that no index names, too. */
  readonly all: boolean;
  readonly agentId: string | undefined;
}

/** One session after another; what is held is one line of one transcript. */
export async function importSessions(request: ImportRequest, run: Run): Promise<ImportReport> {
  const { dir, dryRun, all, agentId } = request;
  if (!isAbsolute(dir)) throw refusal(400, 'IMPORT_DIR', `"${dir}" must be the full path of a folder`);
  const agents = run.get(Agents);
  const owner: Owner = { asked: agentId, fallback: agents.defaultId };
  const by = await around(request, run);
  const [sessions, problems, strangers]: [ImportedSession[], string[], Set<string>] = [[], [], new Set()];
  let unnamed = 0;
  for (const source of await sourcesOf(dir)) {
    const index = await readIndex(source, owner);
    if (index.problem) problems.push(index.problem);
    const taken = [...index.candidates, ...(all ? index.unnamed : [])];
    if (!all) unnamed += index.unnamed.length;
    sessions.push(...index.rejected.map(rejected));
    for (const candidate of taken) {
      run.signal.throwIfAborted();
      if (!agents.ids.includes(candidate.agentId)) strangers.add(candidate.agentId);
      sessions.push(await importSession(candidate, by));
      by.took(candidate);
    }
  }
  for (const id of strangers)
    problems.push(`agent "${id}" is not in the config; its sessions wait for it, or --agent gives them to another`);
  return { dir, dryRun, sessions, problems, unnamed };
}

async function around({ dryRun, replace }: ImportRequest, run: Run): Promise<Import & { took(candidate: Candidate): void }> {
  const sessions = run.get(Sessions);
  const all = await sessions.list({ limit: Number.MAX_SAFE_INTEGER });
  const brought = new Map<string, string>();
  const keys = new Map(all.map(({ key, sessionId }) => [sessionId, key]));
  return {
    sessions,
    dryRun,
    replace,
    broughtAs: (key) => brought.get(key),
    keyOf: (sessionId) => keys.get(sessionId),
    isBusy: (key) =>
      run
        .find(Inbox)
        ?.active()
        .some(({ sessionKey }) => sessionKey === key) ?? false,
    adopted: (session) => run.find(Events)?.publish({ type: 'session_changed', sessionKey: session.key, data: { session } }),
    took({ sessionId, key }) {
      if (!brought.has(key)) brought.set(key, sessionId);
      if (!keys.has(sessionId)) keys.set(sessionId, key);
    },
  };
}

const rejected = ({ key, file, why }: Rejected): ImportedSession => ({
  key,
  from: file,
  outcome: 'failed',
  why,
  messages: 0,
  compactions: 0,
  notes: [],
  moreNotes: 0,
});
