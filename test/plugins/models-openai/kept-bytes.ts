/** A process of its own, for what is measured is the process: prints how many bytes are kept of messages that were sent. */
import { bodyOf } from '../../../plugins/models-openai/wire.ts';
import type { Message } from '../../../plugins/sessions/contract.ts';
import { modelAt } from './scripted.ts';

const held = () => {
  gc?.();
  return process.memoryUsage().arrayBuffers;
};
const model = modelAt('http://127.0.0.1:9/v1');
const send = (...messages: readonly Message[]) =>
  void bodyOf({ model, system: '', messages, tools: [], apiKey: undefined, signal: new AbortController().signal });
const messages = Array.from({ length: 200 }, (_, i): Message => ({ role: 'user', content: `message ${i}`, timestamp: 1 }));
const before = held();
for (const message of messages) {
  send(message);
  for (let i = 0; i < 100; i++) Buffer.from('x'.repeat(1_000)); // as other sessions do: Node's pool moves on
}
const kept = held() - before;
send(...messages); // until here they are held
console.log(kept);
