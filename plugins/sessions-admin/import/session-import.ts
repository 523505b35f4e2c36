import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { messageOf } from '../../../kernel/index.ts';
import type { SessionRecord, Sessions } from '../../sessions/contract.ts';
import type { ImportedSession, Outcome } from '../contract.ts';
import { type Conversion, convert } from './conversion.ts';
import { type Relation, relationOf } from './relation.ts';
import type { Candidate } from './session-index.ts';
import { writeWhole } from './written.ts';

/** What an import may do, and what it asks of what is live. */
export interface Import {
  readonly sessions: Sessions;
  readonly dryRun: boolean;
  readonly replace: boolean;
  /** Whether a turn of the session runs or waits. */
  readonly isBusy: (key: string) => boolean;
  /** Which key has this sessionId, here or earlier in this import. */
  readonly keyOf: (sessionId: string) => string | undefined;
  /** The sessionId that this import found under the key before. */
  readonly broughtAs: (key: string) => string | undefined;
  /** Told of each session that is here now. */
  readonly adopted: (record: SessionRecord) => void;
}

interface Verdict {
  readonly outcome: Outcome;
  readonly why?: string;
  /** What was here is moved to this name first. */
  readonly aside?: string;
  readonly writes?: boolean;
}

/** One session: judged by what is here, then brought. Nothing is changed before it is judged. */
export async function importSession(candidate: Candidate, by: Import): Promise<ImportedSession> {
  const read = convert(candidate.file, candidate.sessionId);
  try {
    const file = await by.sessions.fileOf(candidate);
    const here = await by.sessions.find(candidate.key);
    const relation = await relationOf(file, read.lines);
    const verdict = await judged(candidate, by, { file, here, relation });
    const record = recordOf(candidate, read);
    const done = by.dryRun || !isBrought(verdict, here) ? verdict : await bring(candidate, by, { file, here, record, verdict });
    return report(candidate, read, done);
  } catch (cause) {
    return report(candidate, read, { outcome: 'failed', why: messageOf(cause) });
  }
}

interface Found {
  readonly file: string;
  readonly here: SessionRecord | undefined;
  readonly relation: Relation;
}

async function judged(candidate: Candidate, by: Import, { file, here, relation }: Found): Promise<Verdict> {
  const { key, sessionId } = candidate;
  const owner = by.keyOf(sessionId);
  if (owner !== undefined && owner !== key) return { outcome: 'conflict', why: `its transcript is that of "${owner}" already` };
  const earlier = by.broughtAs(key) ?? sessionId;
  if (earlier !== sessionId) return { outcome: 'conflict', why: `a later entry of the source means the same key` };
  const isSame = here === undefined || here.sessionId === sessionId;
  if (isSame && relation === 'same') return { outcome: here ? 'present' : 'added' };
  if (isSame && relation === 'ahead') return { outcome: here ? 'present' : 'added', why: 'it has gone on here' };
  if (by.isBusy(key)) return { outcome: 'failed', why: 'a turn of it runs or waits here; import again when it is done' };
  if (here === undefined && relation === 'none') return { outcome: 'added', writes: true };
  if (await isOneFile(file, candidate.file))
    return { outcome: 'conflict', why: 'it lies where its import would, in another form; import a copy' };
  if (isSame && relation === 'behind') return { outcome: 'updated', why: 'the source has gone on', writes: true };
  const why = whyDifferent(here, isSame, relation);
  if (!by.replace) return { outcome: 'conflict', why: `${why}; --replace takes the source's` };
  if (relation === 'none' || relation === 'same' || relation === 'ahead') return { outcome: 'replaced', why, writes: relation === 'none' };
  const aside = `${file}.replaced-${new Date().toISOString().replaceAll(':', '-')}`;
  return { outcome: 'replaced', why: `${why}; what was here is now ${aside}`, writes: true, aside };
}

function whyDifferent(here: SessionRecord | undefined, isSame: boolean, relation: Relation): string {
  if (!here) return 'a transcript of its id lies here that says something else';
  if (!isSame) return `"${here.key}" is another conversation here`;
  return relation === 'none' ? 'its transcript here is gone' : 'it says something else here, or went on at both sides';
}

/** Where both are one file, moving it aside would change the source. */
const isOneFile = async (a: string, b: string) => (await realpath(a).catch(() => a)) === (await realpath(b));

const isBrought = ({ outcome }: Verdict, here: SessionRecord | undefined) =>
  outcome === 'added' || outcome === 'updated' || outcome === 'replaced' || (outcome === 'present' && !here);

type Bringing = Omit<Found, 'relation'> & { readonly record: SessionRecord; readonly verdict: Verdict };

const changed: Verdict = { outcome: 'failed', why: 'the session changed here meanwhile; import again' };

/** The file first: a crash between the two leaves one that the next import finds to be the same. */
async function bring(candidate: Candidate, by: Import, { file, here, record, verdict }: Bringing): Promise<Verdict> {
  const before = sizeOf(file);
  const adopt = (place?: () => boolean) => by.sessions.adopt(record, here?.sessionId, place);
  const { lines } = convert(candidate.file, candidate.sessionId);
  const isHere = await (verdict.writes
    ? writeWhole(file, lines, (place) =>
        // Long files take time: what was judged may be so no more.
        adopt(() => {
          if (by.isBusy(candidate.key) || sizeOf(file) !== before) return false;
          place(verdict.aside);
          return true;
        }),
      )
    : adopt());
  if (!isHere) return changed;
  by.adopted(record);
  return verdict;
}

const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;

function recordOf({ key, agentId, sessionId, title, began, updatedAt }: Candidate, { said }: Conversion): SessionRecord {
  const updated = updatedAt ?? said.ended ?? Date.now();
  const createdAt = began ?? said.began ?? updated;
  return { key, sessionId, agentId, title: title || said.title, createdAt, updatedAt: updated, ephemeral: false };
}

function report({ key, file }: Candidate, { said, notes }: Conversion, { outcome, why }: Verdict): ImportedSession {
  const { messages, compactions } = said;
  return { key, from: file, outcome, ...(why && { why }), messages, compactions, notes: notes.notes, moreNotes: notes.moreNotes };
}
