import type { Interface } from 'node:readline/promises';
import { commandIn } from '../inbox/contract.ts';
import { errorLine } from './exit.ts';
import type { Link } from './link.ts';
import { dim } from './contract/terminal.ts';
import { type Ask, takeTurn, type TurnView } from './turn.ts';
import { turnView } from './view.ts';

const commands = '/stop ends the turn and what waits, /new begins a new conversation, /exit leaves, /help has more';

/** As the gateway tells a word from a sentence or a path. What it calls a slip may be a word of a plugin, and does not wait either. */
const commandOf = (line: string) => commandIn(line, new Set());

const write = (text: string) => void process.stdout.write(text);

/** A conversation until /exit or the end of input. What is typed while a turn runs is the next message; a word such as /stop goes at once. */
export async function converse(link: Link, terminal: Interface, ask: Omit<Ask, 'text'>, view: TurnView): Promise<number> {
  let isOpen = true;
  terminal.once('close', () => (isOpen = false));
  const prompt = () => void (isOpen && terminal.prompt());
  const say = async (text: string, shown: TurnView, signal?: AbortSignal) => {
    const failed = (error: Error) => ({ error });
    const { error } = await takeTurn(link, { ...ask, text }, shown, signal).catch(failed);
    if (error) write(`${errorLine(error)}\n`);
  };
  const typed = openTyped(say, view, prompt);
  process.on('SIGINT', () => typed.interrupt() || terminal.close());
  write(`${dim(commands)}\n`);
  prompt();
  for await (const one of terminal) {
    const line = one.trim();
    if (line === '/exit') break;
    if (line) typed.take(line);
    else prompt();
  }
  await typed.done();
  return 0;
}

type Say = (text: string, shown: TurnView, signal?: AbortSignal) => Promise<void>;

/** The messages one after the other, the words beside them. A prompt shows where nothing is under way, or the next message may be awaited. */
function openTyped(say: Say, view: TurnView, prompt: () => void) {
  const lines: string[] = [];
  const words = new Set<Promise<void>>();
  let running: AbortController | undefined;
  let messages: Promise<void> | undefined;
  const sayAll = async () => {
    for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
      running = new AbortController();
      await say(line, view, running.signal);
      running = undefined;
      if (words.size === 0) prompt();
    }
    messages = undefined;
  };
  const obey = async (line: string, name: string) => {
    const dropped = name === 'help' || name === 'queue' ? 0 : lines.splice(0).length; // what ends all that runs ends what waits here, too
    await say(line, turnView(write));
    if (dropped) write(`${dim(`${dropped === 1 ? 'one more line' : `${dropped} more lines`} will not be sent`)}\n`);
  };
  return {
    take(line: string) {
      const command = commandOf(line);
      if (!command) {
        lines.push(line);
        messages ??= sayAll();
        return;
      }
      const one = obey(line, command.name);
      words.add(one);
      void one.then(() => words.delete(one) && words.size === 0 && !messages && prompt());
    },
    /** False where no turn runs. */
    interrupt(): boolean {
      running?.abort();
      return running !== undefined;
    },
    done: () => Promise.all([...words, messages]),
  };
}
