import type { InboxItem, QueueMode } from './contract.ts';
import { queueModes } from './contract.ts';
import type { QueueBounds } from './lanes.ts';

const mode = { type: 'string', enum: queueModes } as const;

/** `messages.queue`, in the described system's shape. */
export const schema = {
  type: 'object',
  additionalProperties: false,
  description: 'What becomes of a message that comes while a turn of its session runs',
  properties: {
    mode: {
      ...mode,
      default: 'followup',
      description: 'followup: a turn of its own; collect: one turn of all that waits; steer: joins the running turn; interrupt: ends it',
    },
    byChannel: { type: 'object', additionalProperties: mode, description: 'Another mode for a channel, e.g. { terminal: "steer" }' },
    cap: { type: 'integer', minimum: 1, default: 20, description: 'Messages that may wait in one session' },
    drop: {
      type: 'string',
      enum: ['new', 'old', 'summarize'],
      default: 'new',
      description:
        'What becomes of a message over the cap. new: it is refused; old: the oldest that waits is; summarize: the oldest are answered with the turn that follows them, which is shown how each begins',
    },
    debounceMs: {
      type: 'integer',
      minimum: 0,
      maximum: 60_000,
      default: 500,
      description: 'Milliseconds without a further message before what was collected becomes a turn',
    },
    debounceMsByChannel: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 0, maximum: 60_000 },
      description: 'Another time for a channel, e.g. { telegram: 2000 }',
    },
  },
} as const;

export interface QueueConfig extends QueueBounds {
  readonly mode: QueueMode;
  readonly byChannel?: Readonly<Record<string, QueueMode>>;
  readonly debounceMsByChannel?: Readonly<Record<string, number>>;
}

/** As they count for one message. */
export function boundsFor(
  { subject }: Pick<InboxItem, 'subject'>,
  { cap, drop, debounceMs, debounceMsByChannel }: QueueConfig,
): QueueBounds {
  return { cap, drop, debounceMs: debounceMsByChannel?.[subject.channel ?? ''] ?? debounceMs };
}

/** What a message itself says, then its session, its channel, all. */
export const modeFor = (item: Pick<InboxItem, 'mode' | 'subject'>, ofSession: QueueMode | undefined, config: QueueConfig): QueueMode =>
  item.mode ?? ofSession ?? config.byChannel?.[item.subject.channel ?? ''] ?? config.mode;
