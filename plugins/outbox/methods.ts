import { type Method, refusal } from '../gateway/contract.ts';
import type { Store } from '../store/contract.ts';
import { type Delivery, outboxStates } from './contract.ts';
import { dropRow, listRows, reopenRow, rowsLike } from './delivery-rows.ts';
import type { Lines } from './lines.ts';

type Params = Readonly<Record<string, unknown>>;

export interface MethodsAround {
  readonly store: Store;
  readonly lines: Lines;
  readonly send: (delivery: Delivery) => void;
}

const usual = ['waiting', 'dead'];
const most = 10_000;

/** The methods of `contract.ts`. */
export function outboxMethods({ store, lines, send }: MethodsAround): Readonly<Record<string, Method>> {
  const rowOf = async (params: Params) => {
    const { id } = params;
    if (typeof id !== 'string' || !/^[0-9a-f-]{4,36}$/.test(id))
      throw wrong('"id" must be an id of "outbox list", or its first 4 characters or more');
    const [row, other] = await store.tx((t) => rowsLike(t, id));
    if (!row)
      throw refusal(404, 'OUTBOX_UNKNOWN', `there is no answer "${id}" in the outbox; "instar outbox list --all" lists those there are`);
    if (other) throw refusal(409, 'OUTBOX_UNKNOWN', `"${id}" begins more than one id; give more of it`);
    return row;
  };

  /** The id of what is sent now. */
  async function retry(id: string, state: string): Promise<string> {
    const first = state === 'waiting' ? lines.hurry(id) : undefined;
    if (first !== undefined) return first;
    const delivery = await store.tx((t) => reopenRow(t, id));
    if (!delivery) throw refusal(409, 'OUTBOX_STATE', `${id} is ${words[state] ?? state}; there is nothing to send again`);
    send(delivery);
    return id;
  }

  return {
    'outbox.list': async (params) => ({ rows: await store.tx((t) => listRows(t, { states: statesOf(params), limit: limitOf(params) })) }),
    'outbox.retry': async (params) => {
      if (params.all === true) {
        const dead = await store.tx((t) => listRows(t, { states: ['dead'], limit: most }));
        const retried: string[] = [];
        for (const { id, state } of dead.toReversed()) retried.push(await retry(id, state)); // in the order they were made
        return { retried };
      }
      const { id, state } = await rowOf(params);
      return { retried: [await retry(id, state)] };
    },
    'outbox.drop': async (params) => {
      const { id, state } = await rowOf(params);
      const isDropped = await store.tx((t) => dropRow(t, id, Date.now()));
      if (!isDropped) throw refusal(409, 'OUTBOX_STATE', `${id} is ${words[state] ?? state} already`);
      lines.forget(id);
      return { dropped: id };
    },
  };
}

const words: Readonly<Record<string, string>> = { waiting: 'on its way', joined: 'sent with the answer of another message' };

function statesOf({ states = usual }: Params): readonly string[] {
  const known: readonly unknown[] = outboxStates;
  if (!Array.isArray(states) || states.length === 0 || !states.every((state) => known.includes(state)))
    throw wrong(`"states" must be a list of ${outboxStates.join(', ')}`);
  return states as readonly string[];
}

function limitOf({ limit = 100 }: Params): number {
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > most)
    throw wrong(`"limit" must be a whole number from 1 to ${most}`);
  return Number(limit);
}

const wrong = (what: string) => refusal(400, 'OUTBOX_PARAMS', what);
