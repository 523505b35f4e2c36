import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { messageOf } from '../../../kernel/index.ts';
import { agentOfKey, titleFrom } from '../../sessions/contract.ts';
import { indexName, type Source } from './sources.ts';

/** A session as its source names it. */
export interface Candidate {
  readonly key: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Its transcript; it lies in the source's folder. */
  readonly file: string;
  readonly title: string;
  readonly began: number | undefined;
  readonly updatedAt: number | undefined;
}

/** One that cannot be taken, and why. */
export interface Rejected {
  readonly key: string;
  readonly file: string;
  readonly why: string;
}

export interface Index {
  readonly candidates: readonly Candidate[];
  readonly rejected: readonly Rejected[];
  /** Transcripts that no entry names. */
  readonly unnamed: readonly Candidate[];
  readonly problem: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
/** Whose sessions they are: what was asked for, and what stands where nothing says it. */
export interface Owner {
  readonly asked: string | undefined;
  readonly fallback: string;
}

const largest = 64 * 1024 * 1024;
const safeId = /^[a-z0-9][a-z0-9._-]{0,127}$/i;
/** `[channel:[account:]]dm:peer`, as older versions have it. */
const olderDirect = /^((?:[^:]+:){0,2})dm:(?=.)/;
const safeAgent = /^[a-z0-9][a-z0-9_-]{0,63}$/i;

export async function readIndex(source: Source, owner: Owner): Promise<Index> {
  const { entries, problem } = source.hasIndex ? await entriesOf(join(source.dir, indexName)) : { entries: [], problem: undefined };
  const judged = await Promise.all(entries.map(([key, fields]) => candidateOf(key, fields, source, owner)));
  const newest = (a: Candidate, b: Candidate) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0);
  const candidates = judged.filter((one) => 'sessionId' in one).toSorted(newest); // of two entries that mean one key, the later one
  const named = new Set(candidates.map(({ file }) => basename(file)));
  const left = source.transcripts.filter((name) => !named.has(name)).map((name) => [name, name.slice(0, -'.jsonl'.length)] as const);
  const unnamed = await Promise.all(
    left.map(([sessionFile, sessionId]) => candidateOf(`imported:${sessionId}`, { sessionId, sessionFile }, source, owner)),
  );
  const rejected = [...judged, ...unnamed].filter((one) => 'why' in one);
  return { candidates, rejected, unnamed: unnamed.filter((one) => 'sessionId' in one), problem };
}

async function entriesOf(
  file: string,
): Promise<{ readonly entries: readonly (readonly [string, Fields])[]; readonly problem: string | undefined }> {
  const lost = (why: string) => ({ entries: [], problem: `${file}: ${why}; its transcripts come in with --all` });
  try {
    if ((await stat(file)).size > largest) return lost('it is larger than 64 MiB');
    const text = (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
    if (!text.trim()) return lost('it is empty');
    const index = JSON.parse(text) as Fields | null;
    if (typeof index !== 'object' || !index || Array.isArray(index)) return lost('it is no object of session keys');
    return { entries: Object.entries(index) as [string, Fields][], problem: undefined };
  } catch (cause) {
    return lost(messageOf(cause));
  }
}

async function candidateOf(key: string, fields: Fields | null, source: Source, owner: Owner): Promise<Candidate | Rejected> {
  const { sessionId, sessionFile } = fields ?? {};
  const rejected = (why: string, file = '') => ({ key, file, why });
  if (typeof sessionId !== 'string' || !safeId.test(sessionId)) return rejected('its sessionId is missing or no name for a file');
  const agentId = (owner.asked ?? agentOfKey(key) ?? source.agentId ?? owner.fallback).toLowerCase();
  if (!safeAgent.test(agentId)) return rejected(`"${agentId}" is no name of an agent`);
  const rest = key.replace(/^agent:[^:]*:/, '').replace(olderDirect, '$1direct:');
  if (!rest || rest.length > 400 || /\p{Cc}/u.test(key)) return rejected('it is no session key: a name on one line is due');
  const names = [...(typeof sessionFile === 'string' ? [basename(sessionFile)] : []), `${sessionId}.jsonl`];
  const name = names.find((one) => source.transcripts.includes(one)) ?? `${sessionId}.jsonl`;
  const file = join(source.dir, name);
  const real = await realpath(file).catch(() => undefined);
  if (!real) return rejected('its transcript is not there', file);
  if (!real.startsWith(source.dir + sep)) return rejected('its transcript is a link out of its folder', file);
  if (!(await stat(real)).isFile()) return rejected('its transcript is no file', file);
  const times = { began: timeOf(fields?.sessionStartedAt), updatedAt: timeOf(fields?.updatedAt) };
  return { key: `agent:${agentId}:${rest}`, agentId, sessionId, file, title: titleOf(fields ?? {}), ...times };
}

const timeOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Math.min(Number(value), Date.now()) : undefined);

function titleOf({ label, displayName, subject }: Fields): string {
  const named = [label, displayName, subject].find((name) => typeof name === 'string' && name.trim());
  return titleFrom((named as string | undefined) ?? '');
}
