import { stat } from 'node:fs/promises';
import type { Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { sessionKey, type SessionRecord, Sessions } from '../sessions/contract.ts';
import type { Shown } from './contract.ts';
import { importSessions } from './import/import.ts';

type Params = Readonly<Record<string, unknown>>;

/** The methods of `contract.ts`. Whoever has the token is the owner: the gateway proved it. */
export const methods: Readonly<Record<string, Method>> = {
  'sessions.show': show,
  'sessions.file': async (params, _client, run) => {
    const session = await named(params, run);
    const file = await run.get(Sessions).fileOf(session);
    const facts = await stat(file).catch(() => undefined);
    return { session, file, bytes: facts?.size ?? 0 };
  },
  'sessions.import': (params, _client, run) => {
    const [dir, agentId] = [wordOf(params, 'dir'), wordOf(params, 'agentId')];
    if (!dir) throw wrong('"dir" is missing');
    return importSessions(
      { dir, agentId, dryRun: flagOf(params, 'dryRun'), replace: flagOf(params, 'replace'), all: flagOf(params, 'all') },
      run,
    );
  },
};

async function show(params: Params, _client: unknown, run: Run): Promise<Shown> {
  const session = await named(params, run);
  const { entries, file } = await run.get(Sessions).open(session.key);
  const last = params.last ?? 20;
  if (!Number.isInteger(last) || Number(last) < 1) throw wrong('"last" must be a whole number from 1');
  return { session, file, messages: entries.length, entries: entries.slice(-Number(last)) };
}

async function named(params: Params, run: Run): Promise<SessionRecord> {
  const word = wordOf(params, 'sessionKey');
  if (!word) throw wrong('"sessionKey" is missing');
  const key = sessionKey(run.get(Agents).defaultId, word);
  const found = await run.get(Sessions).find(key);
  if (!found) throw refusal(404, 'SESSION_UNKNOWN', `there is no session "${key}"; "instar sessions list" lists those there are`);
  return found;
}

const wrong = (what: string) => refusal(400, 'SESSIONS_PARAMS', what);

function wordOf(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.length > 4096 || !/^[^\p{Cc}]+$/u.test(value)) throw wrong(`"${name}" must be text on one line`);
  return value;
}

function flagOf(params: Params, name: string): boolean {
  const value = params[name] ?? false;
  if (typeof value !== 'boolean') throw wrong(`"${name}" must be true or false`);
  return value;
}
