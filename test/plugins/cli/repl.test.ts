import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { openLink } from '../../../plugins/cli/link.ts';
import { converse } from '../../../plugins/cli/repl.ts';
import { folder } from '../../host/folder.ts';
import { fakeGateway, hostOf } from './fake-gateway.ts';

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const live = (type: string, data: object, runId: string) => ({ type, sessionKey: 'agent:main:main', runId, data });

/** A conversation with a gateway whose turns end when a stop comes, and which answers words at once. */
async function conversation() {
  const home = await folder();
  const sent: string[] = [];
  let running: { readonly itemId: string; readonly send: (event: object) => void } | undefined;
  const end = (itemId: string, stopReason: string, text: string, send: (event: object) => void) =>
    send(live('agent_end', { itemId, stopReason, usage, payloads: text ? [{ text }] : [], ms: 1 }, itemId));
  const gateway = await fakeGateway({
    'agents.list': () => ({ agents: [{ id: 'main' }], defaultId: 'main' }),
    'events.watch': () => ({ cursor: 'one.0', missed: false }),
    'chat.send': ({ text }, send) => {
      const itemId = `i${sent.push(String(text))}`;
      if (!String(text).startsWith('/')) {
        running = { itemId, send };
        setImmediate(() => send(live('agent_start', { itemId, agentId: 'main', model: 'p/m' }, itemId)));
        return { itemId };
      }
      const was = text === '/stop' ? running : undefined;
      if (was) running = undefined;
      if (was) setImmediate(() => end(was.itemId, 'aborted', '', was.send));
      setImmediate(() => end(itemId, 'command', was ? 'Stopped.' : 'Nothing runs here.', send));
      return { itemId };
    },
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const terminal = createInterface({ input, output, prompt: '> ' });
  let [out, prompts] = ['', 0];
  vi.spyOn(terminal, 'prompt').mockImplementation(() => void prompts++);
  const writing = vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  const link = openLink(hostOf(home.path, [gateway.url]));
  const signals = process.listeners('SIGINT');
  const over = converse(link, terminal, {}, {});
  return {
    sent,
    type: (line: string) => input.write(`${line}\n`),
    out: () => out,
    prompts: () => prompts,
    async [Symbol.asyncDispose]() {
      input.end('/exit\n');
      await over;
      writing.mockRestore();
      for (const one of process.listeners('SIGINT')) if (!signals.includes(one)) process.off('SIGINT', one);
      await link.leave();
      await gateway[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

test('/stop goes past what is typed behind a turn: the turn ends, and the lines that wait are not sent', async () => {
  await using c = await conversation();
  c.type('one');
  await expect.poll(() => c.sent, { interval: 5 }).toEqual(['one']);
  for (const line of ['two', 'three', '/stop']) c.type(line);
  await expect.poll(c.prompts, { interval: 5 }).toBe(2); // at the start, and once all is over
  expect(c.out()).toContain('Stopped.\n2 more lines will not be sent\n');
  expect(c.sent).toEqual(['one', '/stop']);
});

test('a word where nothing runs is answered, and a prompt follows: /stop, and /new in a fresh conversation', async () => {
  await using c = await conversation();
  for (const [i, word] of ['/stop', '/new'].entries()) {
    c.type(word);
    await expect.poll(c.prompts, { interval: 5 }).toBe(i + 2);
  }
  expect(c.out().match(/Nothing runs here\.\n/g)).toHaveLength(2);
  expect(c.out()).not.toContain('SESSION_UNKNOWN');
  expect(c.sent).toEqual(['/stop', '/new']);
});

test('a sentence or a path is a message, whatever it begins with', async () => {
  await using c = await conversation();
  c.type('/etc/hosts, what is it?');
  await expect.poll(() => c.sent, { interval: 5 }).toEqual(['/etc/hosts, what is it?']);
  c.type('/stop');
});

test('what looks like a word and ends nothing drops no line that waits', async () => {
  await using c = await conversation();
  c.type('one');
  await expect.poll(() => c.sent, { interval: 5 }).toEqual(['one']);
  for (const line of ['two', '/stop-all', '/new?', '/reset-db', '/new ideas, please now', '/stop']) c.type(line);
  await expect.poll(() => c.out(), { interval: 5 }).toContain('2 more lines will not be sent\n');
  expect(c.sent).toEqual(['one', '/stop-all', '/new?', '/reset-db', '/stop']);
});
