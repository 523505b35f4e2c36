import type { Subject } from '../../kernel/index.ts';
import { type Arrival, type Command, commandIn } from './contract.ts';

/** The command that a message is; undefined also where its sender may not give it. `known`: all words that somebody obeys. */
export function commandOf({ content, provenance, subject, ephemeral }: Arrival, known?: ReadonlySet<string>): Command | undefined {
  if (provenance.kind !== 'external_user' || ephemeral) return undefined;
  const command = commandIn(content, known);
  return command && mayCommand(command.name, subject) ? command : undefined;
}

/** A stranger gives none. In a group all but the owner may only stop: its conversation is everybody's. */
function mayCommand(name: Command['name'], { sender, session, group }: Pick<Subject, 'sender' | 'session' | 'group'>): boolean {
  if (sender === 'owner') return true;
  if (sender !== 'known') return false;
  return name === 'stop' || (session !== 'group' && session !== 'thread' && group === undefined);
}
