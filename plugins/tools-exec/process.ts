import { setTimeout as pause } from 'node:timers/promises';
import { defineTool, KernelError, text, type Tool, type Verdict } from '../../kernel/index.ts';
import { Turn } from '../turns/contract.ts';
import { endOf, shown } from './exec.ts';
import { Output } from './output.ts';
import type { Background, Processes } from './processes.ts';
import type { Rules } from './rules.ts';

const parameters = {
  type: 'object',
  required: ['action'],
  additionalProperties: false,
  properties: {
    action: { type: 'string', enum: ['list', 'poll', 'log', 'write', 'kill', 'remove'] },
    sessionId: { type: 'string', description: 'As exec named it, e.g. p1; not for list' },
    data: { type: 'string', description: 'write: the input; end a line with \\n' },
    eof: { type: 'boolean', description: 'write: end the input after it' },
    timeoutMs: { type: 'integer', minimum: 0, maximum: 120_000, default: 0, description: 'poll: wait so long for it to end' },
    offset: { type: 'integer', minimum: 0, description: 'log: first line, from 0; default: the last 200' },
    limit: { type: 'integer', minimum: 1, maximum: 2000, default: 200, description: 'log: lines' },
  },
} as const;

interface ProcessArgs {
  readonly action: (typeof parameters.properties.action.enum)[number];
  readonly sessionId?: string | undefined;
  readonly data?: string | undefined;
}

export function processTool(processes: Processes): Tool {
  return defineTool({
    name: 'process',
    description:
      'Commands that exec left in the background: list, poll (new output, state), log, write to, kill, remove. They end with the gateway.',
    section: 'Runtime',
    parameters,
    async execute(args, call) {
      const all = processes.of(call.run.get(Turn).sessionKey);
      if (args.action === 'list') return text(all.map(lineOf).join('\n') || 'nothing runs in the background');
      const one = find(all, args.sessionId);
      switch (args.action) {
        case 'poll':
          return poll(one, args.timeoutMs, call.signal);
        case 'log':
          return text(log(one, args.offset, args.limit));
        case 'write':
          return text(write(one, args.data ?? '', args.eof ?? false));
        case 'kill':
          one.running.kill();
          await one.running.ended.catch(() => {});
          return text(`${one.id} ended`);
        default:
          if (!one.ended) throw new KernelError('PROCESS_RUNS', `${one.id} runs still; kill it first`);
          processes.remove(one.id);
          return text(`${one.id} is forgotten`);
      }
    },
  });
}

/** What a shell or an interpreter reads is a command like any other: it is judged by the rules as they are now. */
export async function judgeInput(
  args: ProcessArgs,
  sessionKey: string | undefined,
  processes: Processes,
  { rules, sandboxed }: { readonly rules: () => Promise<Rules>; readonly sandboxed: boolean },
): Promise<Verdict | undefined> {
  if (args.action !== 'write' || sessionKey === undefined) return undefined;
  const one = processes.of(sessionKey).find(({ id }) => id === args.sessionId);
  if (!one || one.isConfined) return undefined;
  const { host, security, ask, places } = await rules();
  const deny = (why: string, rule: string): Verdict => ({ kind: 'deny', why: `${why}; it can still be killed`, rule });
  if (sandboxed || host === 'sandbox' || host === 'node')
    return deny('it runs outside of where the commands of this session belong now', places.host);
  if (security === 'deny') return deny('tools.exec.security is "deny"', places.security);
  if (security === 'full' && ask !== 'always') return undefined;
  if (ask === 'off') return deny('what is written to it has to be approved, and tools.exec.ask is "off"', places.ask);
  return {
    kind: 'ask',
    why: `write to ${one.id} (${one.command}): ${args.data ?? ''}`,
    rule: places[ask === 'always' ? 'ask' : 'security'],
  };
}

function find(all: readonly Background[], id: string | undefined): Background {
  const one = all.find((each) => each.id === id);
  if (one) return one;
  const known = all.map((each) => each.id).join(', ') || 'none';
  throw new KernelError('PROCESS_UNKNOWN', `this session has no background command "${id ?? ''}"; it has: ${known}`);
}

const stateOf = ({ ended }: Background) => (ended ? endOf(ended) : 'running');

const lineOf = (one: Background) =>
  `${one.id}  ${stateOf(one)}  ${Math.round((Date.now() - one.startedAt) / 1000)} s  ${one.command.split('\n')[0]?.slice(0, 120)}`;

async function poll(one: Background, timeoutMs: number, signal: AbortSignal) {
  if (!one.ended && timeoutMs > 0)
    await Promise.race([one.running.ended.catch(() => {}), pause(timeoutMs, undefined, { signal, ref: false })]);
  const output = one.fresh.text();
  one.fresh = new Output();
  return {
    ...text(`${shown(output)}[${one.id}: ${stateOf(one)}]`),
    details: { sessionId: one.id, status: one.ended ? 'ended' : 'running', exitCode: one.ended?.exitCode },
  };
}

function log(one: Background, offset: number | undefined, limit: number): string {
  const lines = one.output.text().replace(/\n$/, '').split('\n');
  const from = offset ?? Math.max(0, lines.length - limit);
  return `${lines.slice(from, from + limit).join('\n')}\n[lines ${from}–${Math.min(lines.length, from + limit)} of ${lines.length}; ${one.id}: ${stateOf(one)}]`;
}

function write(one: Background, data: string, eof: boolean): string {
  if (one.ended || (data !== '' && !one.running.write(data)))
    throw new KernelError('PROCESS_INPUT', `${one.id} takes no input: ${one.ended ? stateOf(one) : 'it was started without a shell'}`);
  if (eof) one.running.close();
  return `${data.length} characters written${eof ? ', and the end of the input' : ''}`;
}
