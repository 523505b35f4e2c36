import { createHash } from 'node:crypto';
import type { ToolResult } from '../../kernel/index.ts';
import { invalidArgumentsOf } from '../models/contract.ts';
import type { ToolCallPart } from '../sessions/contract.ts';

export interface GuardLimits {
  /** How often the same must have come of the same before the model is told. */
  readonly warnAt: number;
  /** How often before the turn is ended. */
  readonly endAt: number;
  /** Tools whose use it is to ask again: they may ten times as often. */
  readonly patient: ReadonlySet<string>;
}

/** One call and what came of it, as far as it matters whether they were there before. */
export interface Step {
  readonly name: string;
  readonly call: string;
  readonly result: string;
}

export type Judgement =
  | { readonly kind: 'go' }
  | { readonly kind: 'warn' | 'end'; readonly names: readonly string[]; readonly times: number };

/** A loop of more calls than this is not looked for. */
const longest = 4;
const patience = 10;

/**
 * SPEC 6.6: whether the last steps of a turn go round: one call with the same arguments and result over and over, or two
 * and more in turns. A result that differs in anything is progress.
 */
export function judge(steps: readonly Step[], { warnAt, endAt, patient }: GuardLimits): Judgement {
  let worst: Judgement = { kind: 'go' };
  for (let length = 1; length <= longest; length++) {
    const names = steps.slice(-length).map(({ name }) => name);
    const times = roundsAtEnd(steps, length);
    const factor = names.every((name) => patient.has(name)) ? patience : 1;
    if (times >= endAt * factor) return { kind: 'end', names, times };
    if (times >= warnAt * factor && worst.kind === 'go') worst = { kind: 'warn', names, times };
  }
  return worst;
}

/** How often the last `length` steps stand there in a row. */
function roundsAtEnd(steps: readonly Step[], length: number): number {
  if (steps.length < length) return 0;
  let same = 0;
  for (let at = steps.length - length - 1; at >= 0 && isSame(steps[at], steps[at + length]); at--) same++;
  return 1 + Math.floor(same / length);
}

const isSame = (a: Step | undefined, b: Step | undefined) => a?.call === b?.call && a?.result === b?.result;

/** A tool that is not there is not there with other arguments either, and arguments that cannot be read are none, however they are broken. */
export function stepOf(
  { name, arguments: args }: Pick<ToolCallPart, 'name' | 'arguments'>,
  { content, isError = false, details }: ToolResult,
): Step {
  const isUnknown = (details as { readonly code?: unknown } | undefined)?.code === 'TOOL_UNKNOWN';
  if (invalidArgumentsOf({ arguments: args }) !== undefined) return { name, call: digest([name]), result: 'unreadable' };
  return { name, call: digest(isUnknown ? [name] : [name, args]), result: digest([isError, content]) };
}

const digest = (value: unknown) => createHash('sha256').update(canonical(value)).digest('base64');

/** The same text for equal values, in whatever order their keys are. */
export function canonical(value: unknown): string {
  const sorted = (_key: string, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  };
  return JSON.stringify(value, sorted) ?? 'undefined';
}

/** The memory of one turn. */
export interface Guard {
  /** To be told to the model with the result. Undefined where all is well, or the turn is at its end. */
  saw(call: Pick<ToolCallPart, 'name' | 'arguments'>, result: ToolResult): string | undefined;
  /** Why the turn must end. */
  ended(): string | undefined;
}

export function openGuard(limits: GuardLimits | undefined): Guard {
  const steps: Step[] = [];
  let why: string | undefined;
  return {
    saw(call, result) {
      if (!limits || why) return undefined;
      steps.push(stepOf(call, result));
      const judgement = judge(steps, limits);
      if (judgement.kind === 'go') return undefined;
      const told = `${listed(judgement.names)} ${judgement.times} times in a row, to the same end each time`;
      if (judgement.kind === 'warn')
        return `[This was the same call again: ${told}. It will not change by itself. Do something else, or answer with what you have; the turn is ended soon otherwise.]`;
      why = `the turn was ended because it went round in a circle: the model called ${told}. Say what to do differently, or "go on".`;
      return undefined;
    },
    ended: () => why,
  };
}

const listed = (names: readonly string[]) => names.map((name) => `"${name.slice(0, 64)}"`).join(' and ');
