import type { Log } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { type Method, refusal } from '../gateway/contract.ts';
import { sessionKey as keyIn, Sessions } from '../sessions/contract.ts';
import { compactSession } from './session.ts';

/** The method of `contract.ts`. */
export const compactMethod =
  (log: Log): Method =>
  async (params, _client, run) => {
    const named = textOf(params, 'sessionKey', 512);
    if (!named) throw wrong('"sessionKey" is missing');
    const sessionKey = keyIn(run.get(Agents).defaultId, named);
    if (!(await run.get(Sessions).find(sessionKey))) throw refusal(404, 'SESSION_UNKNOWN', `there is no session "${sessionKey}"`);
    return compactSession({ sessionKey, instructions: textOf(params, 'instructions', 10_000) }, run, log);
  };

function textOf(params: Parameters<Method>[0], name: string, most: number): string | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value.length <= most) return value;
  throw wrong(`"${name}" must be a text of at most ${most} characters`);
}

const wrong = (what: string) => refusal(400, 'COMPACTION_PARAMS', what);
