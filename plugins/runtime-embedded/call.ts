import { given, type Log, type Run, type ToolResult } from '../../kernel/index.ts';
import { invalidArgumentsOf } from '../models/contract.ts';
import type { ToolCallPart } from '../sessions/contract.ts';
import { type Ended, whyOf, WorkTime } from '../turns/contract.ts';
import { leftBehind, untilLeft } from './settle.ts';
import type { Settings } from './settings.ts';
import { soundResult } from './sound-result.ts';

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

/** A call's result, whatever happens: wrong arguments, a deadline, a stop, a tool that does not listen to either or returns no result. */
export async function resultOf(call: ToolCallPart, around: CallAround): Promise<ToolResult> {
  const { run, settings } = around;
  if (run.signal.aborted) return error('The turn was stopped before this call began.');
  const raw = invalidArgumentsOf(call);
  if (raw?.trim() === '') return error(`The arguments are missing: the call was cut. Call ${call.name} again with all of them.`);
  if (raw !== undefined) return error(`The arguments are no JSON object: ${raw.slice(0, 200)}. Call ${call.name} again with valid JSON.`);
  const deadline = new AbortController();
  const ms = settings.timeoutMs(call.name);
  const late = () => deadline.abort(new DOMException(`${call.name} timed out`, 'TimeoutError'));
  const time = run.get(WorkTime).part();
  const lift = ms === undefined ? () => {} : time.after(ms, late);
  try {
    const own = run.as({ signal: deadline.signal, values: [given(WorkTime, time)] });
    return capped(await withSignal(call, own, around, () => told(call.name, run, deadline.signal, ms)));
  } finally {
    lift();
  }
}

interface Stop {
  readonly why: Ended['why'];
  /** The call alone was told, by its own deadline. */
  readonly isOwn: boolean;
  readonly text: string;
}

/** Who told the call to stop, in the words of its result. The turn's end goes before the call's own deadline. */
function told(name: string, { signal }: Run, deadline: AbortSignal, ms = 0): Stop | undefined {
  const why = whyOf(signal);
  const how = why === 'stop' ? 'was stopped' : 'had no time left';
  if (signal.aborted) return { why, isOwn: false, text: `The turn ${how} while this call ran` };
  return deadline.aborted ? { why: 'deadline', isOwn: true, text: `${name} timed out after ${ms / 1000} s` } : undefined;
}

async function withSignal(call: ToolCallPart, own: Run, around: CallAround, stopOf: () => Stop | undefined) {
  const { settings, ended } = around;
  const note = (how: Ended['how'], why: Ended['why']) => ended({ kind: 'tool', id: call.id, name: call.name, how, why });
  let isOver = false;
  const onUpdate = showing(call, around, () => isOver);
  const work = own.callTool({ id: call.id, name: call.name, args: call.arguments, onUpdate }).then((returned) => checked(call, returned));
  try {
    const result = await untilLeft(work, own.signal, settings.graceMs);
    const stop = stopOf();
    if (result === leftBehind) return abandoned(call, work, stop?.text ?? '', around, () => note('left', stop?.why ?? 'stop'));
    if (!stop) return result;
    note('ended', stop.why);
    if (!stop.isOwn) return result;
    return { ...result, content: [{ type: 'text', text: stop.text } as const, ...result.content], isError: true };
  } catch (cause) {
    const stop = stopOf();
    if (!stop) throw cause;
    note('ended', stop.why);
    return error(`${stop.text}; what it had done by then stays done.`);
  } finally {
    isOver = true;
  }
}

/** Partial output that is none is left out and told once: the tool may be in the middle of what must not break off. */
function showing({ name, id }: ToolCallPart, { onUpdate, log, run }: CallAround, isOver: () => boolean) {
  let isTold = false;
  return (partial: ToolResult) => {
    if (isOver()) return;
    const sound = soundResult(partial);
    if (typeof sound !== 'string') return onUpdate(sound);
    if (!isTold) log.warn(`partial output of tool "${name}" is not shown: it is ${sound}`, { tool: name, callId: id, runId: run.id });
    isTold = true;
  };
}

function checked({ name }: ToolCallPart, returned: unknown): ToolResult {
  const sound = soundResult(returned);
  if (typeof sound !== 'string') return sound;
  const why = `${name} failed: it returned ${sound}. What it has done stays done; this is a fault of the plugin that brings the tool.`;
  return { ...error(why), details: { code: 'TOOL_FAILED' } };
}

/** It was told to stop and did not in time. Whatever it still does, nobody waits for it. */
function abandoned(call: ToolCallPart, work: Promise<unknown>, text: string, { log, run }: CallAround, note: () => void): ToolResult {
  const facts = { tool: call.name, callId: call.id, runId: run.id };
  log.warn(`${call.name} did not stop when it was told to; it was left behind`, facts);
  void work.catch(() => {}).then(() => log.info(`${call.name}, which was left behind, has ended`, facts));
  note();
  return error(
    `${text}, and it did not stop when told: interrupted, outcome unknown. It may still be at work; look before you do it again.`,
  );
}

const error = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: true });

function capped(result: ToolResult): ToolResult {
  if (result.content.every((part) => part.type !== 'text' || part.text.length <= maxText)) return result;
  const cut = (text: string) => `${text.slice(0, maxText).toWellFormed()}\n[cut: ${text.length - maxText} more characters]`;
  return {
    ...result,
    content: result.content.map((p) => (p.type === 'text' && p.text.length > maxText ? { ...p, text: cut(p.text) } : p)),
  };
}
