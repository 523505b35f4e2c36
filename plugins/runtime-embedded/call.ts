import type { Log, Run, ToolResult } from '../../kernel/index.ts';
import { invalidArgumentsOf } from '../models/contract.ts';
import type { ToolCallPart } from '../sessions/contract.ts';
import type { Ended } from '../turns/contract.ts';
import { leftBehind, untilLeft } from './settle.ts';
import type { Settings } from './settings.ts';

/** The largest text of one result that goes to the model; tools cap their own far below. Characters. */
const maxText = 100_000;

export interface CallAround {
  readonly run: Run;
  readonly settings: Pick<Settings, 'timeoutMs' | 'graceMs'>;
  readonly log: Log;
  readonly onUpdate: (partial: ToolResult) => void;
  /** Told where a stop or a deadline ended it, or could not. */
  readonly ended: (one: Ended) => void;
}

/** A call's result, whatever happens: wrong arguments, a deadline, a stop, a tool that does not listen to either. */
export async function resultOf(call: ToolCallPart, around: CallAround): Promise<ToolResult> {
  const { run, settings } = around;
  if (run.signal.aborted) return error('The turn was stopped before this call began.');
  const raw = invalidArgumentsOf(call);
  if (raw !== undefined) return error(`The arguments are no JSON object: ${raw.slice(0, 200)}. Call ${call.name} again with valid JSON.`);
  const deadline = new AbortController();
  const ms = settings.timeoutMs(call.name);
  const late = () => deadline.abort(new DOMException(`${call.name} timed out`, 'TimeoutError'));
  const timer = ms === undefined ? undefined : setTimeout(late, ms);
  try {
    return capped(await withSignal(call, run.as({ signal: deadline.signal }), around, () => told(run, deadline.signal, ms)));
  } finally {
    clearTimeout(timer);
  }
}

interface Stop {
  readonly why: Ended['why'];
  readonly text: string;
}

/** Who told the call to stop, in the words of its result. The turn's stop goes before the deadline. */
function told({ signal }: Run, deadline: AbortSignal, ms = 0): Stop | undefined {
  if (signal.aborted) return { why: 'stop', text: 'The turn was stopped while this call ran' };
  return deadline.aborted ? { why: 'deadline', text: `timed out after ${ms / 1000} s` } : undefined;
}

async function withSignal(call: ToolCallPart, own: Run, around: CallAround, stopOf: () => Stop | undefined) {
  const { settings, ended } = around;
  const note = (how: Ended['how'], why: Ended['why']) => ended({ kind: 'tool', id: call.id, name: call.name, how, why });
  let isOver = false;
  const onUpdate = (partial: ToolResult) => void (isOver || around.onUpdate(partial));
  const work = own.callTool({ id: call.id, name: call.name, args: call.arguments, onUpdate });
  try {
    const result = await untilLeft(work, own.signal, settings.graceMs);
    const stop = stopOf();
    if (result === leftBehind) return abandoned(call, work, stop?.text ?? '', around, () => note('left', stop?.why ?? 'stop'));
    if (!stop) return result;
    note('ended', stop.why);
    return stop.why === 'stop'
      ? result
      : { ...result, content: [{ type: 'text', text: `${call.name} ${stop.text}` } as const, ...result.content], isError: true };
  } catch (cause) {
    const stop = stopOf();
    if (!stop) throw cause;
    note('ended', stop.why);
    const begun = stop.why === 'stop' ? stop.text : `${call.name} ${stop.text}`;
    return error(`${begun}; what it had done by then stays done.`);
  } finally {
    isOver = true;
  }
}

/** It was told to stop and did not in time. Whatever it still does, nobody waits for it. */
function abandoned(call: ToolCallPart, work: Promise<unknown>, text: string, { log, run }: CallAround, note: () => void): ToolResult {
  const facts = { tool: call.name, callId: call.id, runId: run.id };
  log.warn(`${call.name} did not stop when it was told to; it was left behind`, facts);
  void work.catch(() => {}).then(() => log.info(`${call.name}, which was left behind, has ended`, facts));
  note();
  const begun = text.startsWith('timed out') ? `${call.name} ${text}` : text;
  return error(
    `${begun}, and it did not stop when told: interrupted, outcome unknown. It may still be at work; look before you do it again.`,
  );
}

const error = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true });

function capped(result: ToolResult): ToolResult {
  if (result.content.every((part) => part.type !== 'text' || part.text.length <= maxText)) return result;
  const cut = (text: string) => `${text.slice(0, maxText)}\n[cut: ${text.length - maxText} more characters]`;
  return {
    ...result,
    content: result.content.map((p) => (p.type === 'text' && p.text.length > maxText ? { ...p, text: cut(p.text) } : p)),
  };
}
