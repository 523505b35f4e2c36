import { createInterface, type Interface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { askingView } from './asking.ts';
import { exitCodes, misused, type RunCommand } from './contract.ts';
import { type Link, openLink } from './link.ts';
import { errorLine } from './exit.ts';
import { converse } from './repl.ts';
import { type Ask, takeTurn, type TurnView } from './turn.ts';
import { turnView } from './view.ts';

/** `instar chat`: one turn, or a conversation where no text is given and a person is there. */
export const run: RunCommand = async (argv, host) => {
  const option = { type: 'string' } as const;
  const options = { agent: option, session: option, model: option };
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const isAttended = process.stdin.isTTY && process.stdout.isTTY;
  let opened: Interface | undefined;
  const terminal = () => (opened ??= openTerminal());
  const link = openLink(host, async (client) => isAttended && client.call('approvals.attend', { name: 'terminal' }));
  const write = (text: string) => void process.stdout.write(text);
  const view: TurnView = { ...turnView(write), ...(isAttended && askingView(link, terminal, write)) };
  try {
    if (positionals.length === 0 && isAttended) return await converse(link, terminal(), values, view);
    const text = positionals.join(' ') || (await readAll(process.stdin));
    if (!text.trim()) throw misused('there is no text to send');
    return await single(link, { ...values, text }, view);
  } finally {
    opened?.close();
    await link.leave();
  }
};

/** Once it listens, the terminal hands us a Ctrl-C as a key: pass it on as the signal it was. */
function openTerminal(): Interface {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  return terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
}

/** The first Ctrl-C stops the turn, the second does not wait for that. */
async function single(link: Link, ask: Ask, view: TurnView): Promise<number> {
  const stop = new AbortController();
  process.on('SIGINT', () => {
    if (stop.signal.aborted || !link.current) process.exit(exitCodes.interrupted);
    stop.abort();
  });
  const told = await takeTurn(link, ask, view, stop.signal);
  if (told.error) console.error(errorLine(told.error));
  if (stop.signal.aborted) return exitCodes.interrupted;
  return told.error ? exitCodes.failed : 0;
}
