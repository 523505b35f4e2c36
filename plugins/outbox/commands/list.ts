import { parseArgs } from 'node:util';
import { dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import { type OutboxRow, outboxStates } from '../contract.ts';

/** `instar outbox list`: what is on its way and what did not get out, newest first, each with the reason. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' }, all: { type: 'boolean' }, state: { type: 'string' }, limit: { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const states = values.state ? [values.state] : values.all ? outboxStates : ['waiting', 'dead'];
  const limit = values.limit === undefined ? 50 : Number(values.limit);
  const { rows } = await host.ask<{ readonly rows: readonly OutboxRow[] }>('outbox.list', { states, limit });
  if (values.json) console.log(JSON.stringify({ rows }));
  else console.log(rows.length ? rows.map(lines).join('\n') : nothing(values.all === true, values.state));
  return 0;
};

const nothing = (isAll: boolean, state?: string) =>
  isAll
    ? 'The outbox is empty.'
    : state
      ? `No answer is ${oneLine(state)}.`
      : 'Every answer got out: nothing is on its way, and there are no dead letters.';

function lines({ id, state, attempt, why, createdAt, route, payloads }: OutboxRow): string {
  const tries = attempt === 0 ? 'not tried yet' : attempt === 1 ? '1 attempt' : `${attempt} attempts`;
  const said = payloads.flatMap(({ text }) => text ?? []).join(' ');
  const first = `  ${id.slice(0, 8)}  ${state.padEnd(9)}  ${dim(minuteOf(createdAt))}  ${oneLine(route, 60)}  ${dim(tries)}`;
  const more = [why && `why  ${oneLine(why, 200)}`, said && `says ${oneLine(said, 80)}`].flatMap((line) =>
    line ? [dim(`            ${line}`)] : [],
  );
  return [first, ...more].join('\n');
}

/** In the reader's own time zone. */
function minuteOf(time: number): string {
  const at = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
