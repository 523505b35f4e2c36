import type { LiveEvent } from './contract.ts';

/** An event before it has its place in the stream. */
export type Published = Omit<LiveEvent, 'cursor'>;

/** Where in the stream of this process: grows by one per event. */
export interface Numbered {
  readonly n: number;
  readonly event: Published;
}

/** The streamed thing that an event adds to, or shows anew; undefined for events that stand alone. */
export function partOf({ type, sessionKey, data }: Published): string | undefined {
  if (isDelta(type)) return `${sessionKey} ${String(data.messageId)} ${String(data.kind)} ${String(data.index)}`;
  if (type === 'tool_execution_update') return `${sessionKey} ${String(data.callId)}`;
  return undefined;
}

/** Deltas of a part are joined; of all else with a part only the newest counts. */
export const isDelta = (type: string) => type === 'message_update';

export const deltaOf = ({ data }: Published) => (typeof data.delta === 'string' ? data.delta : '');

/** A delta of the same part with another text. What only its first delta tells (a tool's name) is kept. */
export const withDelta = (first: Published, delta: string): Published => ({ ...first, data: { ...first.data, delta } });

/** About how many bytes are held by keeping this. */
export function weigh(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > 8) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 32;
  for (const inner of Object.values(value)) bytes += 16 + weigh(inner, depth + 1);
  return bytes;
}
