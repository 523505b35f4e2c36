import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { refusal } from '../../gateway/contract.ts';

/** A folder with an index and transcripts, and the agent that the folder's place says it is of. */
export interface Source {
  readonly dir: string;
  readonly agentId: string | undefined;
  /** Its transcripts' names. */
  readonly transcripts: readonly string[];
  readonly hasIndex: boolean;
}

export const indexName = 'sessions.json';

/** Archives (`.jsonl.reset.…`), checkpoints and trajectories are no conversations that go on. */
const isTranscript = (name: string) =>
  name.endsWith('.jsonl') && !/\.(trajectory|checkpoint\.[0-9a-f-]{36}|acp-stream)\.jsonl$/i.test(name);

/** `dir` may be a state folder, an agent's folder or a sessions folder. */
export async function sourcesOf(dir: string): Promise<readonly Source[]> {
  const root = await folder(dir);
  const agents: readonly string[] = await readdir(join(root, 'agents')).catch(() => []);
  const folders = [root, join(root, 'sessions'), ...agents.toSorted().map((name) => join(root, 'agents', name, 'sessions'))];
  const found = await Promise.all(folders.map(sourceAt));
  const sources = found.filter((source) => source !== undefined);
  if (sources.length) return sources;
  throw refusal(
    404,
    'IMPORT_EMPTY',
    `${dir}: neither ${indexName} nor a transcript (*.jsonl) is in it, in sessions/, or in agents/*/sessions/`,
  );
}

async function folder(dir: string): Promise<string> {
  const [real, facts] = await Promise.all([realpath(dir), stat(dir)]).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such folder' : error.message;
    throw refusal(404, 'IMPORT_DIR', `${dir}: ${why}`);
  });
  if (!facts.isDirectory()) throw refusal(400, 'IMPORT_DIR', `${dir} is a file; name the folder it is in`);
  return real;
}

async function sourceAt(dir: string): Promise<Source | undefined> {
  const names: readonly string[] = await readdir(dir).catch(() => []);
  const transcripts = names.filter(isTranscript).toSorted();
  const hasIndex = names.includes(indexName);
  if (!hasIndex && transcripts.length === 0) return undefined;
  const agentDir = dirname(dir);
  const isAgents = basename(dir) === 'sessions' && basename(dirname(agentDir)) === 'agents';
  return { dir, agentId: isAgents ? basename(agentDir) : undefined, transcripts, hasIndex };
}
