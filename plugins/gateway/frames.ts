import { refusal } from './contract.ts';

/** A call as it comes over a WebSocket. */
export interface Call {
  readonly id: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Throws a refusal that says what is wrong; unknown fields are dropped. */
export function parseCall(text: string): Call {
  const frame = objectOf(parse(text));
  const { id, method, params = {} } = frame ?? {};
  if (typeof id !== 'string' && typeof id !== 'number') throw badFrame('"id" must be a string or a number');
  if (typeof method !== 'string') throw badFrame('"method" must be a string');
  const given = objectOf(params);
  if (!given) throw badFrame('"params" must be an object');
  return { id, method, params: given };
}

const badFrame = (why: string) => refusal(400, 'GATEWAY_FRAME', `a frame is {"id", "method", "params"}: ${why}`);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badFrame('this one is not JSON');
  }
}

const objectOf = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
