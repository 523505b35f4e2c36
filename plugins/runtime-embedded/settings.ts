import type { GuardLimits } from './guard.ts';

const seconds = { type: 'number', minimum: 0, maximum: 86_400 } as const;
const times = { type: 'integer', minimum: 2, maximum: 1000 } as const;

export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'The loop of model and tools',
  properties: {
    toolTimeoutSeconds: {
      ...seconds,
      default: 600,
      description:
        'How long one tool call may take, the time for an approval not counted; 0: for ever. exec and process have limits of their own',
    },
    toolTimeouts: { type: 'object', additionalProperties: seconds, description: 'The same for single tools, by name' },
    loopGuard: {
      type: 'object',
      additionalProperties: false,
      description: 'Against calls that are repeated with the same arguments and the same result, alone or in turns',
      properties: {
        enabled: { type: 'boolean', default: true, description: 'Whether the guard watches' },
        warnAt: { ...times, default: 3, description: 'At which repetition the model is told' },
        endAt: { ...times, default: 5, description: 'At which repetition the turn is ended' },
        patientTools: {
          type: 'array',
          items: { type: 'string' },
          default: ['process'],
          description: 'Tools that are meant to be asked again: they may ten times as often',
        },
      },
    },
  },
} as const;

export interface Settings {
  /** Undefined: for ever. */
  readonly timeoutMs: (tool: string) => number | undefined;
  /** After it was told to stop. */
  readonly graceMs: number;
  readonly guard: GuardLimits | undefined;
}

export interface Config {
  readonly toolTimeoutSeconds?: number | undefined;
  readonly toolTimeouts?: Readonly<Record<string, number>> | undefined;
  readonly loopGuard?:
    | {
        readonly enabled?: boolean | undefined;
        readonly warnAt?: number | undefined;
        readonly endAt?: number | undefined;
        readonly patientTools?: readonly string[] | undefined;
      }
    | undefined;
}

/** A stop settles within five seconds (SPEC 6.4); `exec` needs two of them to end a process group that does not listen. */
const graceMs = 4000;
const limitedElsewhere: Readonly<Record<string, number>> = { exec: 0, process: 0 };

export function settingsOf({ toolTimeoutSeconds = 600, toolTimeouts = {}, loopGuard = {} }: Config): Settings {
  const { enabled = true, warnAt = 3, endAt = 5, patientTools = ['process'] } = loopGuard;
  const bySeconds = new Map(Object.entries({ ...limitedElsewhere, ...toolTimeouts }));
  const timeoutMs = (tool: string) => (bySeconds.get(tool) ?? toolTimeoutSeconds) * 1000 || undefined;
  return { timeoutMs, graceMs, guard: enabled ? { warnAt, endAt, patient: new Set(patientTools) } : undefined };
}
