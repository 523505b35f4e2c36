import { messageOf, type Log, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Events } from '../events/contract.ts';
import { Models } from '../models/contract.ts';
import { agentOfKey, Sessions } from '../sessions/contract.ts';
import type { CompactReport } from './contract.ts';
import { tokensOf } from './estimate.ts';
import { planOf } from './plan.ts';
import { limitOf, roomFor } from './room.ts';
import { settingsOf } from './settings.ts';
import { shrink } from './shrink.ts';

export interface SessionJob {
  readonly sessionKey: string;
  /** What the owner wants the summary to heed. */
  readonly instructions?: string | undefined;
}

/** By command, whatever the size. A turn that runs meanwhile appends to the same file and loses nothing. */
export async function compactSession({ sessionKey, instructions }: SessionJob, outer: Run, log: Log): Promise<CompactReport> {
  const sessions = outer.get(Sessions);
  const session = await sessions.find(sessionKey);
  const agentId = session?.agentId ?? agentOfKey(sessionKey) ?? outer.get(Agents).defaultId;
  const settings = settingsOf(outer, agentId);
  if (!settings.isOn) return { compacted: false, text: `Compaction is switched off for ${agentId} (compaction.mode).` };
  if (!session) return nothing;
  const { model } = await outer.get(Models).choose(outer, agentId);
  const run = outer.as({ subject: { ...outer.subject, agent: agentId, provider: model.provider, model: model.id } });
  const transcript = await sessions.open(sessionKey);
  const shown = transcript.shown();
  const before = tokensOf(shown.map(({ message }) => message));
  const window = Math.max(0, model.contextWindow || 0);
  // The prompt is made for turns; about so much is left for it.
  const fixed = window > 0 ? limitOf(window, settings) / 4 : 0;
  const room = roomFor('command', { window, fixed, conversation: before }, settings);
  const plan = room && planOf(shown, room);
  if (!room || !plan) return nothing;
  const wishes = [settings.instructions, instructions?.trim()].flatMap((text) => text || []);
  const emit = (type: string, data: object) =>
    run.find(Events)?.publish({ type, sessionKey, data: { trigger: 'command', tokensBefore: before, ...data } });
  emit('auto_compaction_start', {});
  const shrunk = await shrink(
    { plan, transcript, model, room, settings, instructions: wishes, tokensBefore: before, isNeeded: false },
    run,
  ).catch((cause: unknown) => ({ failure: { code: 'COMPACTION_FAILED', message: messageOf(cause) } }));
  const error = 'failure' in shrunk ? `The conversation could not be summarised: ${shrunk.failure.message}` : undefined;
  const tokensAfter = tokensOf(transcript.shown().map(({ message }) => message));
  const messages = error ? 0 : plan.older.length;
  emit('auto_compaction_end', { tokensAfter, messages, ...(error && { error }) });
  if (error) {
    log.warn(error, { sessionKey });
    return { compacted: false, text: error };
  }
  const text = `${messages} messages are a summary now: about ${before} tokens became ${tokensAfter}.`;
  return { compacted: true, text, tokensBefore: before, tokensAfter, messages };
}

const nothing: CompactReport = { compacted: false, text: 'There is nothing to compact here yet.' };
