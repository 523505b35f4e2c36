import type { Interface } from 'node:readline/promises';
import { errorLine } from './exit.ts';
import type { Link } from './link.ts';
import { dim } from './contract/terminal.ts';
import { addressOf, type Ask, takeTurn, type TurnView } from './turn.ts';

const commands = '/stop ends the turn, /new forgets the conversation, /exit leaves, /help has more';

/** A conversation until /exit or the end of input. What is typed while a turn runs is the next message. */
export async function converse(link: Link, terminal: Interface, ask: Omit<Ask, 'text'>, view: TurnView): Promise<number> {
  let running: AbortController | undefined;
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  const turn = async (text: string) => {
    running = new AbortController();
    const { error } = await takeTurn(link, { ...ask, text }, view, running.signal).finally(() => (running = undefined));
    if (error) say(errorLine(error));
  };
  const forget = async () => {
    const client = await link.client();
    const { sessionKey } = await addressOf(client, ask);
    await client.call('sessions.reset', { sessionKey });
    say(dim('a new conversation'));
  };
  const obey = async (line: string) => {
    if (line === '/new') return forget();
    return turn(line);
  };
  process.on('SIGINT', () => (running ? running.abort() : terminal.close()));
  say(dim(commands));
  terminal.prompt();
  let last: Promise<void> = Promise.resolve();
  for await (const typed of terminal) {
    const line = typed.trim();
    if (line === '/exit') break;
    if (line === '/stop') running?.abort();
    if (line === '/stop') continue; // its turn ends with a prompt of its own
    if (line) last = last.then(() => obey(line)).catch((error) => say(errorLine(error)));
    void last.then(() => terminal.prompt());
  }
  await last;
  return 0;
}
