import { defineTool, Host, KernelError, type Run, text, type Tool } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { Inbox } from '../inbox/contract.ts';
import { agentOfKey, type SessionRecord, Sessions } from '../sessions/contract.ts';
import { Turn } from '../turns/contract.ts';
import { spentIn } from './spent.ts';

export const sessionStatus: Tool = defineTool({
  name: 'session_status',
  description: 'The time now, and the facts of this session: model, usage, what waits. Ask here for date and time.',
  section: 'Sessions',
  parallel: true,
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: { sessionKey: { type: 'string', minLength: 1, maxLength: 512, description: 'Default: this session' } },
  },
  async execute({ sessionKey }, { run }) {
    const key = allowedKey(sessionKey, run);
    const record = await run.get(Sessions).find(key);
    if (!record) throw new KernelError('SESSION_CLOSED', `there is no session "${key.slice(0, 200)}"`);
    const facts = [...timeFacts(record, run), ...turnFacts(key, run), ...(await usageFacts(key, run)), ...sessionFacts(record, run)];
    return { ...text(facts.map(([label, value]) => `${label}: ${value}`).join('\n')), details: Object.fromEntries(facts) };
  },
});

type Fact = readonly [label: string, value: string];

/** A key is no right: another session is for the owner alone, of the same agent, and never for a sub-agent (it would read its parent's) or from a sandbox. */
function allowedKey(asked: string | undefined, run: Run): string {
  const own = run.find(Turn)?.sessionKey;
  const key = asked ?? own;
  if (key === undefined) throw new KernelError('SESSION_CLOSED', 'this call is in no session; name one by sessionKey');
  const { sender, session, agent, depth = 0, sandboxed } = run.subject;
  // What is in a sandbox stays with what is in it: a session beside it may be one of the host.
  const isFree = depth === 0 && sandboxed !== true;
  const isOwners = sender === 'owner' && (session === 'main' || session === 'direct') && isFree && agentOfKey(key) === agent;
  if (key === own || isOwners) return key;
  throw new KernelError('SESSION_CLOSED', `session "${key.slice(0, 200)}" is not for this one to see; leave sessionKey out for your own`);
}

function timeFacts({ agentId }: SessionRecord, run: Run): readonly Fact[] {
  const zone = run.find(Agents)?.field<string>(agentId, 'userTimezone') ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const now = new Date();
  const style = { dateStyle: 'full', timeStyle: 'long' } as const;
  try {
    return [['time', `${now.toLocaleString('en-GB', { ...style, timeZone: zone })} (${zone}; ${now.toISOString()})`]];
  } catch {
    return [['time', `${now.toISOString()} (the time zone ${JSON.stringify(zone)} of agents.defaults.userTimezone is unknown)`]];
  }
}

function turnFacts(key: string, run: Run): readonly Fact[] {
  const turn = run.find(Turn);
  if (!turn || turn.sessionKey !== key) return [];
  const { model, trigger, runId } = turn;
  const { channel, sender, sandboxed } = run.subject;
  return [
    ['model', `${model.provider}/${model.id}, context window ${count(model.contextWindow)} tokens`],
    ['turn', `${runId}, begun by ${trigger}${channel ? ` on ${channel}` : ''}${sender ? `, sender ${sender}` : ''}`],
    ['sandbox', sandboxed ? 'yes' : 'no'],
  ];
}

async function usageFacts(key: string, run: Run): Promise<readonly Fact[]> {
  const spent = spentIn((await run.get(Sessions).open(key)).entries);
  const window = run.find(Turn)?.model.contextWindow;
  const share = window && run.find(Turn)?.sessionKey === key ? ` (${Math.round((100 * spent.context) / window)} % of the window)` : '';
  const cost = spent.cost > 0 ? `, $${spent.cost.toFixed(4)}` : '';
  return [
    ['context', spent.requests > 0 ? `${count(spent.context)} tokens at the last request${share}` : 'no request so far'],
    [
      'usage',
      `${spent.requests} requests, ${count(spent.input)} tokens in, ${count(spent.output)} out, ${count(spent.cached)} from cache${cost}`,
    ],
    ['messages', String(spent.messages)],
  ];
}

function sessionFacts({ key, sessionId, agentId, title, createdAt, updatedAt }: SessionRecord, run: Run): readonly Fact[] {
  const waiting =
    run
      .find(Inbox)
      ?.active()
      .filter((item) => item.sessionKey === key && item.state === 'waiting').length ?? 0;
  return [
    ['session', `${key}, id ${sessionId}, agent ${agentId}${title ? `, "${title}"` : ''}`],
    ['since', `${new Date(createdAt).toISOString()}, last used ${new Date(updatedAt).toISOString()}`],
    ['waiting', waiting === 0 ? 'nothing' : `${waiting} message${waiting > 1 ? 's' : ''}`],
    ['instar', run.get(Host).version],
  ];
}

const count = (tokens: number) => tokens.toLocaleString('en-US');
