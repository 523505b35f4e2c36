import type { Subject } from '../../kernel/index.ts';
import { type Arrival, type QueueMode, queueModes } from './contract.ts';

/** A message that is obeyed at the door, and does not wait in the queue that it is about. */
export type Command = { readonly name: 'stop' | 'new' | 'reset' } | QueueCommand | HelpCommand;
/** Without a mode it asks which one counts. */
export interface QueueCommand {
  readonly name: 'queue';
  readonly mode: QueueMode | 'default' | undefined;
  readonly unknown?: string;
}

export interface HelpCommand {
  readonly name: 'help';
  /** What was said, where it is no word that anybody obeys. */
  readonly unknown?: string;
}

/** Only a whole message is a command: words in a sentence are not. Undefined also where its sender may not give it. `known`: other plugins' words. */
export function commandOf({ content, provenance, subject, ephemeral }: Arrival, known?: ReadonlySet<string>): Command | undefined {
  if (provenance.kind !== 'external_user' || ephemeral) return undefined;
  const text = typeof content === 'string' ? content : content.length === 1 && content[0]?.type === 'text' ? content[0].text : '';
  const command = parse(text.trim().toLowerCase(), known);
  return command && mayCommand(command.name, subject) ? command : undefined;
}

function parse(text: string, known?: ReadonlySet<string>): Command | undefined {
  if (text === '/stop' || text === '/new' || text === '/reset') return { name: text.slice(1) as 'stop' };
  const queue = /^\/queue(?:\s+(.+))?$/.exec(text);
  if (!queue) return helpIn(text, known);
  const [, word] = queue;
  if (word === undefined) return { name: 'queue', mode: undefined };
  if (word === 'default' || word === 'reset') return { name: 'queue', mode: 'default' };
  const mode = queueModes.find((one) => one === word);
  return mode ? { name: 'queue', mode } : { name: 'queue', mode: undefined, unknown: word };
}

/** A slip like `/qeue steer` is not for a model. A path or a sentence is: it has a second slash, or more than two words. */
function helpIn(text: string, known: ReadonlySet<string> | undefined): HelpCommand | undefined {
  if (text === '/help') return { name: 'help' };
  const [, word] = /^(\/[a-z][a-z_-]*)(?: [^\s/]+)?$/.exec(text) ?? [];
  return word !== undefined && known && !known.has(word) ? { name: 'help', unknown: word } : undefined;
}

/** A stranger gives none. In a group all but the owner may only stop: its conversation is everybody's. */
function mayCommand(name: Command['name'], { sender, session, group }: Pick<Subject, 'sender' | 'session' | 'group'>): boolean {
  if (sender === 'owner') return true;
  if (sender !== 'known') return false;
  return name === 'stop' || (session !== 'group' && session !== 'thread' && group === undefined);
}
