import { parseArgs } from 'node:util';
import { dim, oneLine, type RunCommand } from '../../cli/contract.ts';
import type { SessionRecord } from '../../sessions/contract.ts';
import { countOf } from './one-key.ts';

/** `instar sessions list`: newest first. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' }, agent: { type: 'string' }, limit: { type: 'string' } } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const limit = countOf('limit', values.limit) ?? 50;
  const asked = { limit: limit + 1, ...(values.agent && { agentId: values.agent }) };
  const { sessions } = await host.ask<{ readonly sessions: readonly SessionRecord[] }>('sessions.list', asked);
  const shown = sessions.slice(0, limit);
  const hasMore = sessions.length > limit;
  if (values.json) console.log(JSON.stringify({ sessions: shown, hasMore }));
  else if (shown.length === 0)
    console.log('There are no sessions yet; "instar chat" begins one, "instar sessions import DIR" brings some.');
  else console.log([...table(shown), ...(hasMore ? [dim('  … there are older ones: --limit')] : [])].join('\n'));
  return 0;
};

function table(sessions: readonly SessionRecord[]): readonly string[] {
  const width = Math.max(...sessions.map(({ key }) => oneLine(key, 60).length));
  return sessions.map(
    ({ key, updatedAt, title }) => `  ${dim(minuteOf(updatedAt))}  ${oneLine(key, 60).padEnd(width)}  ${dim(oneLine(title, 60))}`,
  );
}

/** In the reader's own time zone. */
export function minuteOf(time: number): string {
  const at = new Date(time);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
