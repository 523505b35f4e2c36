import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Heard } from './socket.ts';

/** Every message has a mark, which its answer repeats: so each answer is told from any other, and a second one shows. */
export class Ledger {
  readonly #asked = new Map<string, { said: number; ended: number }>();
  readonly faults: string[] = [];

  get asked(): number {
    return this.#asked.size;
  }

  ask(mark: string) {
    this.#asked.set(mark, { said: 0, ended: 0 });
  }

  /** What one socket heard of the messages that `isOwn`. */
  hear({ type, data }: Heard, isOwn: (mark: string) => boolean) {
    const isEnd = type === 'agent_end';
    if (!isEnd && !(type === 'message_end' && data?.message?.role === 'assistant')) return;
    const mark = markIn(JSON.stringify(isEnd ? data?.payloads : data?.message));
    const count = mark === undefined ? undefined : this.#asked.get(mark);
    if (mark === undefined || !count) this.faults.push(`an answer to nothing that was asked: ${JSON.stringify(data).slice(0, 200)}`);
    else if (isOwn(mark)) count[isEnd ? 'ended' : 'said']++;
  }

  /** Each message has one answer: on the wire, in the store, in its session's transcript. */
  check(home: string): readonly string[] {
    const wrong = [...this.#asked].filter(([, { said, ended }]) => said !== 1 || ended !== 1);
    const shown = wrong.slice(0, 3).map(([mark, { said, ended }]) => `${mark} (said ${said}, ended ${ended})`);
    return [
      ...this.faults,
      ...(wrong.length ? [`${wrong.length} message(s) were answered not exactly once, e.g. ${shown.join(', ')}`] : []),
      ...rowsLeft(home, this.#asked.size),
      ...transcriptFaults(join(home, 'agents/main/sessions'), new Set(this.#asked.keys())),
    ];
  }
}

const markIn = (text = '') => /MARK-\w+/.exec(text)?.[0];

function rowsLeft(home: string, asked: number): readonly string[] {
  using db = new DatabaseSync(join(home, 'state.db'), { readOnly: true });
  const count = (sql: string) => Number(db.prepare(sql).get()?.['n']);
  const rows = {
    'message(s) in the inbox': count('SELECT count(*) n FROM inbox'),
    'message(s) done': count("SELECT count(*) n FROM inbox WHERE state = 'done'"),
    'answer(s) delivered': count("SELECT count(DISTINCT item_id) n FROM outbox WHERE state = 'delivered'"),
    'answer(s) in the outbox': count('SELECT count(*) n FROM outbox'),
  };
  return Object.entries(rows).flatMap(([what, n]) => (n === asked ? [] : [`${n} ${what}, of ${asked} that were sent`]));
}

/** In order: the user's message, its answer; and all that was asked is there. */
function transcriptFaults(folder: string, unseen: Set<string>): readonly string[] {
  const faults: string[] = [];
  for (const name of readdirSync(folder)) {
    let open: string | undefined;
    for (const line of readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').slice(1)) {
      const { message } = JSON.parse(line) as { readonly message?: { readonly role: string } };
      const mark = markIn(line);
      if (message?.role === 'user' ? open !== undefined : mark !== open) faults.push(`${name}: ${mark} stands where it should not`);
      open = message?.role === 'user' ? mark : undefined;
      if (open && !unseen.delete(open)) faults.push(`${name}: ${open} is there twice, or was never asked`);
    }
    if (open) faults.push(`${name}: ${open} has no answer`);
  }
  return unseen.size ? [...faults, `${unseen.size} message(s) are in no transcript`] : faults;
}
