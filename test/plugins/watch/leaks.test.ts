import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Events } from '../../../plugins/events/contract.ts';
import { Faults } from '../../../plugins/faults/contract.ts';
import { start } from '../../host/booted.ts';
import { folder } from '../../host/folder.ts';
import { readLog, startGateway, tempHome } from '../../support/instar.ts';

/** Line 6 is the setup's body. */
const source = (name: string, body: string) => `
import { definePlugin } from 'instar';
type Unused = string;
export default definePlugin({
  name: '${name}', description: '', async setup(ctx) {
    ${body}
  },
});
`;
/** A lease that ticks, and may be told to tick more. */
const lease = (key: string) =>
  `const lease = await ctx.lease('${key}', () => ({
  tick: setInterval(() => {}, 60_000),
  start() { this.more ??= setInterval(() => {}, 60_000); },
  async [Symbol.asyncDispose]() { clearInterval(this.tick); clearInterval(this.more); },
}));`.replaceAll('\n', ' ');
const bodies = (port: number) => ({
  ticking: 'setInterval(() => {}, 60_000).unref();',
  chained: 'const again = () => setTimeout(again, 20).unref(); again();',
  hearing: "process.on('SIGUSR2', () => {});",
  dialing: `const { connect } = await import('node:net'); ctx.onLive(() => void connect(${port}, '127.0.0.1').unref());`,
  listening: "const { createServer } = await import('node:http'); createServer().listen(0, 'localhost').unref();",
  watching: "const { watch } = await import('node:fs'); watch('.').unref();",
  running: "const { spawn } = await import('node:child_process'); spawn('sleep', ['20'], { stdio: 'pipe' }).unref();",
  tidy: "const t = setInterval(() => {}, 60_000); ctx.defer(() => clearInterval(t)); const f = () => {}; process.on('SIGUSR2', f); ctx.signal.addEventListener('abort', () => process.off('SIGUSR2', f));",
  leasing: `${lease('leasing')} lease.start(); ctx.onLive(() => lease.start());`,
  'leasing-too': `ctx.onLive(() => { setInterval(() => {}, 60_000).unref(); }); ${lease('leasing-too')}`,
  'leasing-three': `${lease('leasing-three')} await null; setInterval(() => {}, 60_000).unref();`,
});
type Left = { readonly plugin: string; readonly message: string; readonly place?: string };

/** All plugins in development mode; `edit` rewrites them and waits until nothing of the old ones waits to be judged. */
async function develop(onTell: (line: string) => void = () => {}) {
  const home = await folder();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const all = bodies((server.address() as AddressInfo).port);
  /** At once, so that it is one change. */
  const write = (more = '') => {
    for (const [name, body] of Object.entries(all)) {
      mkdirSync(home.at(`plugins/${name}`), { recursive: true });
      writeFileSync(home.at(`plugins/${name}/index.ts`), source(name, body) + more);
    }
  };
  write();
  const gateway = await start(home, { flags: { port: '0', watch: '' }, show: onTell });
  const list = () => gateway.run((run) => run.get(Faults).list()) as Promise<readonly Left[]>;
  let edits = 0;
  return {
    home,
    gateway,
    edit: () => write(`export const edited = ${++edits};\n`),
    /** By plugin what it left, without the cure. */
    left: async () => {
      const names = (await list()).map(({ plugin, message, place }) => [plugin, message.split(';')[0], place?.replace(home.path, '')]);
      return names.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      server.close();
      process.removeAllListeners('SIGUSR2'); // what was leaked ends here
      await home[Symbol.asyncDispose]();
    },
  };
}

test('in development mode, what a plugin leaves behind at a reload is named with file and line, and published', async () => {
  const lines: string[] = [];
  await using t = await develop((line) => void lines.push(line));
  const told: unknown[] = [];
  await t.gateway.run((run) => run.get(Events).watch({}, ({ type, data }) => void (type === 'plugin_fault' && told.push(data['plugin']))));
  const at = (name: string) => `/plugins/${name}/index.ts:6`;
  const expected = [
    ['chained', 'left a timer behind', at('chained')],
    ['dialing', 'left a socket behind', at('dialing')],
    ['hearing', 'left a listener of process "SIGUSR2" behind', at('hearing')],
    ['leasing-too', 'left a timer behind', at('leasing-too')],
    ['listening', 'left a server behind', undefined],
    ['running', 'left a child process behind', at('running')],
    ['ticking', 'left a timer behind', at('ticking')],
    ['watching', 'left a file watcher behind', at('watching')],
  ];
  t.edit();
  await expect.poll(t.left, { interval: 20, timeout: 10_000 }).toEqual(expected);
  expect(new Set(told)).toEqual(new Set(expected.map(([plugin]) => plugin)));
  const line = `plugin "ticking" left a timer behind (${t.home.path}${at('ticking')}); end it on ctx.signal or in ctx.defer`;
  expect(lines.filter((one) => one.includes(line))).not.toEqual([]);
  // What may be the lease's is told once two instances left it: then the lease does not need it.
  t.edit();
  const three = ['leasing-three', 'left a timer behind', at('leasing-three')];
  await expect.poll(t.left, { interval: 20, timeout: 10_000 }).toContainEqual(three);
  const names = new Set([...expected.map(([plugin]) => plugin), 'leasing-three']);
  expect(new Set((await t.left()).map(([plugin]) => plugin))).toEqual(names);
  expect(lines.filter((one) => /"(tidy|leasing)"/.test(one))).toEqual([]);
}, 30_000);

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
  expect(await gateway.ended).toMatchObject({ code: 0 }); // with all that it said, where it is not
  expect(JSON.stringify(readLog(place.home))).toContain('plugin \\"late\\" called tap after setup');
});
