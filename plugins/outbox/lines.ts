import type { Leasable } from '../../kernel/index.ts';
import type { Delivery } from './contract.ts';

/**
 * What is to be sent, in a line per route: one is sent at a time, and what waits for its next attempt holds up what came
 * after it. A lease: a reload in between neither loses a row nor hurries it.
 */
export interface Lines extends Leasable {
  /** Once live: what the last process left goes at once. Later calls find none. */
  begin(): void;
  /** Puts a row in its line, where it may stand already. True where it is its turn: then it ends with `leave` or `again`. */
  enter(delivery: Delivery): boolean;
  leave(delivery: Delivery): void;
  again(delivery: Delivery, ms: number): void;
  /**
   * Sends the first of the line in which a row waits now, and as often again as if it were new. Its id; undefined where the row
   * waits in none, or one of it is being sent.
   */
  hurry(id: string): string | undefined;
  forget(id: string): void;
}

interface Line {
  readonly rows: Delivery[];
  /** Of the first: it waits for its next attempt, is about to be sent, or is being sent. */
  state: 'waits' | 'called' | 'sending';
  timer?: NodeJS.Timeout | undefined;
}

/** `send` enters the row's line again, and does not reject: what it cannot do stays in its row. */
export function openLines(send: (delivery: Delivery) => Promise<void>, left: readonly Delivery[]): Lines {
  const leftovers = [...left];
  const lines = new Map<string, Line>();
  let isEnding = false;

  function stand(delivery: Delivery): Line {
    const line: Line = lines.get(delivery.route) ?? { rows: [], state: 'waits' };
    lines.set(delivery.route, line);
    if (!line.rows.some(({ id }) => id === delivery.id)) line.rows.push(delivery);
    return line;
  }

  function goOn(line: Line) {
    clearTimeout(line.timer);
    line.timer = undefined;
    const [first] = line.rows;
    if (!first || isEnding) return;
    line.state = 'called';
    void send(first).then(() => line.state === 'called' && line.rows[0] === first && remove(line, first)); // it could not even begin
  }

  /** Where it was the first, the next one goes. */
  function remove(line: Line, { id, route }: Pick<Delivery, 'id' | 'route'>) {
    const at = line.rows.findIndex((row) => row.id === id);
    if (at < 0) return;
    line.rows.splice(at, 1);
    if (at === 0) line.state = 'waits';
    if (line.rows.length === 0) lines.delete(route);
    else if (at === 0) goOn(line);
  }

  const wait = (line: Line, ms: number) => {
    if (!isEnding) line.timer = setTimeout(() => goOn(line), ms).unref();
  };

  return {
    begin() {
      const those = new Set(leftovers.splice(0).map(stand));
      for (const line of those) if (line.state === 'waits' && !line.timer) goOn(line);
    },
    enter(delivery) {
      const line = stand(delivery);
      if (line.state === 'sending' || line.rows[0]?.id !== delivery.id) return false;
      clearTimeout(line.timer);
      line.timer = undefined;
      line.state = 'sending';
      return true;
    },
    leave(delivery) {
      const line = lines.get(delivery.route);
      if (line) remove(line, delivery);
    },
    again(delivery, ms) {
      const line = stand(delivery);
      line.rows[0] = delivery;
      line.state = 'waits';
      wait(line, ms);
    },
    hurry(id) {
      const line = lines.values().find(({ rows, state }) => state === 'waits' && rows.some((row) => row.id === id));
      const [first] = line?.rows ?? [];
      if (!line || !first) return undefined;
      line.rows[0] = { ...first, attempt: 0 };
      goOn(line);
      return first.id;
    },
    forget(id) {
      for (const [route, line] of lines) {
        const isOut = line.rows[0]?.id === id && line.state !== 'waits'; // whoever sends it sees that it is gone
        if (!isOut) remove(line, { id, route });
      }
    },
    /** The gateway is ending: their rows wait for the next start. */
    retire() {
      isEnding = true;
      for (const line of lines.values()) clearTimeout(line.timer);
    },
    resume() {
      isEnding = false;
      for (const line of lines.values()) if (line.state === 'waits') wait(line, 1_000);
    },
    async [Symbol.asyncDispose]() {},
  };
}
