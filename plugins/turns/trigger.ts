import type { InboxItem } from '../inbox/contract.ts';
import type { Turn } from './contract.ts';

/** What began a turn, from what its door said: never from the words of a message. */
export function triggerOf({ subject, provenance }: Pick<InboxItem, 'subject' | 'provenance'>): Turn['trigger'] {
  if (provenance.tool === 'heartbeat' && provenance.kind === 'internal_system') return 'heartbeat';
  if (subject.session === 'cron' || subject.session === 'subagent') return subject.session;
  return provenance.kind === 'external_user' ? 'user' : 'system';
}
