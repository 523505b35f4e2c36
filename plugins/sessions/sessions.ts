import { join } from 'node:path';
import { KernelError, type Log } from '../../kernel/index.ts';
import type { Store } from '../store/contract.ts';
import type { SessionRecord, Sessions } from './contract.ts';
import { limitHistoryTurns } from './history-limit.ts';
import { deleteRow, findRow, listRows, putRow } from './session-rows.ts';
import { newSessionId, openTranscript, type OwnTranscript, type TranscriptCache } from './transcript.ts';
import { removeTranscriptFile } from './transcript-file.ts';

export interface SessionsAround {
  readonly store: Store;
  readonly cache: TranscriptCache;
  /** Asked late: agents change while sessions live. */
  readonly folders: (agentId: string) => Promise<{ readonly dir: string; readonly workspace: string }>;
  readonly log: Log;
  readonly historyTurns: number | undefined;
}

export function openSessions({ store, cache, folders, log, historyTurns }: SessionsAround): Sessions {
  const find = (key: string) => store.tx((t) => findRow(t, key));

  async function need(key: string): Promise<SessionRecord> {
    const found = await find(key);
    if (!found)
      throw new KernelError('SESSION_UNKNOWN', `there is no session "${key}"; see \`instar sessions\` or the page for those there are`);
    return found;
  }

  const fileIn = (dir: string, sessionId: string) => join(dir, 'sessions', `${sessionId}.jsonl`);

  async function transcriptOf({ agentId, sessionId }: SessionRecord): Promise<OwnTranscript> {
    const { dir, workspace } = await folders(agentId);
    const file = fileIn(dir, sessionId);
    return cache.get(sessionId, () => openTranscript({ file, sessionId, workspace, log }));
  }

  return {
    shown: (history) => limitHistoryTurns(history, historyTurns),
    find,
    ensure: (key, { agentId, ephemeral = false, title = '' }) =>
      store.tx(async (t) => {
        const now = Date.now();
        const known = await findRow(t, key);
        const fresh = { key, sessionId: newSessionId(), agentId, title, createdAt: now, updatedAt: now, ephemeral };
        const record = known ? { ...known, title: known.title || title, updatedAt: now } : fresh;
        await putRow(t, record);
        return record;
      }),
    list: ({ agentId, limit = 100 } = {}) => store.tx((t) => listRows(t, agentId, limit)),
    open: async (key) => transcriptOf(await need(key)),
    fileOf: async ({ agentId, sessionId }) => fileIn((await folders(agentId)).dir, sessionId),
    adopt: (record, instead, place = () => true) =>
      store.tx(async (t) => {
        if ((await findRow(t, record.key))?.sessionId !== instead || !place()) return false;
        // In one go with its placing: what the old one appended to the new file would hide what is new in it.
        cache.known(record.sessionId)?.retire();
        cache.forget(record.sessionId);
        await putRow(t, record);
        return true;
      }),
    async reset(key) {
      const old = await need(key);
      const record = { ...old, sessionId: newSessionId(), title: '', updatedAt: Date.now() };
      await store.tx((t) => putRow(t, record));
      cache.forget(old.sessionId);
      return record;
    },
    /** The file goes before the row's end is committed: a crash between the two leaves no file that nobody knows. It is not read. */
    async remove(key, unusedSince) {
      const record = await find(key);
      if (!record) return;
      const { sessionId, agentId } = record;
      const file = fileIn((await folders(agentId)).dir, sessionId);
      await store.tx(async (t) => {
        if (!(await deleteRow(t, key, unusedSince))) return;
        const open = cache.known(sessionId);
        if (open) open.remove();
        else removeTranscriptFile(file);
        cache.forget(sessionId);
      });
    },
  };
}
