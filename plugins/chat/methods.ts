import type { Content, Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Events } from '../events/contract.ts';
import { type Client, type Method, refusal } from '../gateway/contract.ts';
import { Inbox } from '../inbox/contract.ts';
import { Outbox } from '../outbox/contract.ts';
import { Sessions } from '../sessions/contract.ts';
import { addressOf, channelOf, namedSession, usualAgent } from './address.ts';
import { countOf, imagesOf, type Params, requiredWord, textOf, wordOf, wrong } from './params.ts';
import type { Watches } from './watches.ts';

/** The scheme of our routes: the answer is in the transcript and the events, where the page reads it. */
export const scheme = 'chat:';

/** The methods of `contract.ts`. Whoever has the token is the owner: the gateway proved it. */
export const chatMethods = (watches: Watches): Readonly<Record<string, Method>> => ({
  'chat.send': send,
  'chat.stop': (params, client, run) => ({ stopped: run.get(Inbox).abort(namedSession(params, client, run), 'stopped by the user') }),
  'chat.result': result,
  'agents.list': (_params, client, run) => {
    const agents = run.get(Agents);
    const listed = agents.ids.map((id) => {
      const name = agents.own(id)?.identity?.name ?? agents.own(id)?.name;
      return { id, ...(name && { name }) };
    });
    return { agents: listed, defaultId: usualAgent(client, run) };
  },
  'sessions.list': async (params, _client, run) => {
    const [agentId, limit] = [wordOf(params, 'agentId'), countOf(params, 'limit')];
    return { sessions: await run.get(Sessions).list({ ...(agentId && { agentId }), ...(limit && { limit }) }) };
  },
  'sessions.history': history,
  'sessions.reset': reset,
  'sessions.remove': remove,
  'events.watch': (params, client, run) => {
    const [key, after] = [wordOf(params, 'sessionKey'), wordOf(params, 'after')];
    return watches.start(client, run.get(Events), { after, sessionKey: key && namedSession(params, client, run) });
  },
  'events.stop': (_params, client) => ({ stopped: watches.stop(client) }),
});

async function send(params: Params, client: Client, run: Run) {
  const text = textOf(params, 'text');
  const images = imagesOf(params);
  if (!text.trim() && images.length === 0) throw wrong('"text" is empty');
  const content: string | readonly Content[] = images.length
    ? [...(text.trim() ? [{ type: 'text', text } as const] : []), ...images]
    : text;
  const [idempotencyKey, model] = [wordOf(params, 'idempotencyKey'), wordOf(params, 'model')];
  const { agentId, sessionKey } = addressOf(params, client, run);
  const channel = channelOf(client);
  const isMain = sessionKey === `agent:${agentId}:main`;
  const { itemId } = await run.get(Inbox).enqueue({
    sessionKey,
    agentId,
    content,
    provenance: { kind: 'external_user', channel },
    subject: { channel, sender: 'owner', session: isMain ? 'main' : 'direct' },
    route: `${scheme}${sessionKey}`,
    ...(idempotencyKey && { idempotencyKey: `chat:${idempotencyKey}` }),
    ...(model && { model }),
  });
  return { itemId, sessionKey, agentId };
}

async function result(params: Params, _client: unknown, run: Run) {
  const itemId = requiredWord(params, 'itemId');
  const active = run
    .get(Inbox)
    .active()
    .find((item) => item.itemId === itemId);
  if (active) return { state: active.state, ...(active.state === 'running' && { cursor: run.get(Events).settled(active.sessionKey) }) };
  const delivery = await run.get(Outbox).find(itemId);
  return delivery ? { state: 'done', delivery } : { state: 'unknown' };
}

async function history(params: Params, client: Client, run: Run) {
  const sessionKey = namedSession(params, client, run);
  const session = await run.get(Sessions).find(sessionKey);
  const transcript = session && (await run.get(Sessions).open(sessionKey));
  // From here to the return nothing is awaited: cursor, entries and what runs are of one moment.
  const cursor = run.get(Events).settled(sessionKey);
  const active = run
    .get(Inbox)
    .active()
    .filter((item) => item.sessionKey === sessionKey);
  return { session, entries: transcript ? [...transcript.entries] : [], cursor, active };
}

async function reset(params: Params, client: Client, run: Run) {
  const sessionKey = await existing(params, client, run);
  const session = await run.get(Inbox).clear(sessionKey, run, () => run.get(Sessions).reset(sessionKey));
  run.get(Events).publish({ type: 'session_changed', sessionKey, data: { session } });
  return { session };
}

async function remove(params: Params, client: Client, run: Run) {
  const sessionKey = await existing(params, client, run);
  await run.get(Inbox).clear(sessionKey, run, () => run.get(Sessions).remove(sessionKey));
  return { removed: true };
}

async function existing(params: Params, client: Client, run: Run): Promise<string> {
  const sessionKey = namedSession(params, client, run);
  if (await run.get(Sessions).find(sessionKey)) return sessionKey;
  throw refusal(404, 'SESSION_UNKNOWN', `there is no session "${sessionKey}"`);
}
