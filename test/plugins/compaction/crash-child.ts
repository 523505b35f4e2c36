import { watchWrites } from '../../support/durable-writes.ts';
import { crashMind, scene } from './scene.ts';

/** `node crash-child.ts <home> <before | within | after>`: kills itself at the write of a compaction's record. */
const [home = '', when] = process.argv.slice(2);
const isRecord = (text: string) => text.startsWith('{"type":"compaction"');
const die = () => void process.kill(process.pid, 'SIGKILL');
let isTheOne = false;

watchWrites({
  cut(_, text) {
    isTheOne = isRecord(text);
    if (isTheOne && when === 'before') die();
    return isTheOne && when === 'within' ? text.slice(0, text.length / 2) : text;
  },
  done: () => isTheOne && die(),
});
await using s = await scene(crashMind, { home });
await s.channel.ask('and now?');
