import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Events } from '../../../plugins/events/contract.ts';
import { start } from '../../host/booted.ts';
import { folder } from '../../host/folder.ts';
import { readLog, startGateway, tempHome } from '../../support/instar.ts';

/** Line 6 is the setup's body. */
const source = (name: string, body: string) => `
import { definePlugin } from 'instar';
type Unused = string;
export default definePlugin({
  name: '${name}', description: '', setup(ctx) {
    ${body}
  },
});
`;
const bodies = {
  ticking: 'setInterval(() => {}, 60_000).unref();',
  chained: 'const again = () => setTimeout(again, 20).unref(); again();',
  hearing: "process.on('SIGUSR2', () => {});",
  tidy: "const t = setInterval(() => {}, 60_000); ctx.defer(() => clearInterval(t)); const f = () => {}; process.on('SIGUSR2', f); ctx.signal.addEventListener('abort', () => process.off('SIGUSR2', f));",
  leasing:
    "return ctx.lease('tick', () => { const t = setInterval(() => {}, 60_000); return { async [Symbol.asyncDispose]() { clearInterval(t); } }; }).then(() => {});",
};

test('in development mode, what a plugin leaves behind at a reload is named with file and line, and published', async () => {
  await using home = await folder();
  const write = (more = '') =>
    home.write(Object.fromEntries(Object.entries(bodies).map(([name, body]) => [`plugins/${name}/index.ts`, source(name, body) + more])));
  await write();
  onTestFinished(() => void process.removeAllListeners('SIGUSR2')); // what was leaked ends here
  const lines: string[] = [];
  await using gateway = await start(home, { flags: { port: '0', watch: '' }, show: (line) => void lines.push(line) });
  const leaks: unknown[] = [];
  await gateway.run((run) => run.get(Events).watch({}, ({ type, data }) => void (type === 'plugin_leak' && leaks.push(data))));
  await write('export const edited = true;\n');
  const place = (name: string) => `${home.at(`plugins/${name}/index.ts`)}:6`;
  const expected = [
    { plugin: 'chained', what: 'a timer', place: place('chained') },
    { plugin: 'hearing', what: 'a listener of process "SIGUSR2"', place: place('hearing') },
    { plugin: 'ticking', what: 'a timer', place: place('ticking') },
  ];
  // A write may come as several changes, each with its reload and its leaks.
  const found = () => [...new Set(leaks.map((leak) => JSON.stringify(leak)))].toSorted().map((leak) => JSON.parse(leak) as unknown);
  await expect.poll(found, { interval: 20, timeout: 10_000 }).toEqual(expected);
  const told = `plugin "ticking" left a timer behind (${place('ticking')}); end it on ctx.signal or in ctx.defer`;
  expect(lines.filter((line) => line.includes(told))).not.toEqual([]);
  expect(lines.filter((line) => /"(tidy|leasing)"/.test(line))).toEqual([]);
});

test('outside development mode nothing is hooked', async () => {
  await using home = await folder();
  const before = process.listenerCount('newListener');
  await using _ = await start(home);
  expect(process.listenerCount('newListener')).toBe(before);
});

test('a plugin that registers late, from a timer, is named, and the gateway goes on', async () => {
  using place = tempHome({});
  mkdirSync(join(place.home, 'plugins/late'), { recursive: true });
  writeFileSync(
    join(place.home, 'plugins/late/index.ts'),
    `import { definePlugin, RegisterTools } from 'instar';
     const late = (ctx) => setTimeout(() => ctx.tap(RegisterTools, (tools) => tools), 200);
     export default definePlugin({ name: 'late', description: '', setup: (ctx) => ctx.onLive(() => void late(ctx)) });`,
  );
  await using gateway = await startGateway(place.home, ['--watch']);
  await expect.poll(() => gateway.out.stderr, { timeout: 10_000 }).toContain('plugin "late" called tap after setup');
  expect((await gateway.get('/healthz')).status).toBe(200);
  gateway.child.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
  expect(JSON.stringify(readLog(place.home))).toContain('plugin \\"late\\" called tap after setup');
});
