/** Reloads, good and failing, under steady load on the real product. `npm run soak` runs 1,000; a short form runs in the tests. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ask } from '../bench/process.ts';
import { type Gateway, instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';
import { type Socket, openSocket } from './socket.ts';

export interface SoakResult {
  readonly turns: number;
  readonly reloads: number;
  readonly rejected: number;
  /** What must stay empty. */
  readonly faults: readonly string[];
  /** Kilobytes of heap that one more reload keeps for ever, once the load is gone. */
  readonly keptPerReload: number;
}

const versions: readonly ((round: number) => string)[] = [
  (round) => probe(`return text('v${round}');`),
  (round) => probe(`return text('v${round} again');`),
  () => 'export default {{{',
  (round) => probe(`return text('v${round}');`, "throw new Error('setup fails');"),
  (round) => probe(`return text('v${round}');`, "ctx.tap(CheckGeneration, () => 'the check fails');"),
];

/** A tool that writes down each call, so that a doubled one shows. */
const probe = (body: string, setup = '') => `
import { appendFileSync } from 'node:fs';
import { CheckGeneration, definePlugin, defineTool, RegisterTools, text } from 'instar';
void CheckGeneration;
const tool = defineTool({
  name: 'probe', description: 'writes down that it ran',
  parameters: { type: 'object', properties: { n: { type: 'integer' }, file: { type: 'string' } }, required: ['n', 'file'] },
  execute({ n, file }) { appendFileSync(file, n + '\\n'); ${body} },
});
export default definePlugin({ name: 'probe', description: 'for the soak', setup(ctx) { ${setup} ctx.tap(RegisterTools, (tools) => [...tools, tool]); } });
`;

export async function soak(reloads: number, clients = 16): Promise<SoakResult> {
  await using mock = await startMock({ keepBodies: false });
  using place = tempHome();
  const calls = join(place.home, 'calls');
  const config = (round: number) => JSON.stringify(withMock(mock.url, place.home, { session: { ephemeralTtl: `${1 + (round % 20)}h` } }));
  writeFileSync(calls, '');
  writeFileSync(place.file, config(0));
  const folder = join(place.home, 'plugins/probe');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.ts'), versions[0]?.(0) ?? '');
  await using gateway = await startGateway(place.home, ['--watch']);
  const said = reader(gateway);
  const before = await facts(gateway, place.home);
  const faults: string[] = [];
  const load = openLoad(gateway, calls, clients, faults);
  let rejected = 0;
  for (let round = 1; round <= reloads; round++) {
    const good = round % 4 !== 3;
    if (round % 10 === 5) writeFileSync(place.file, config(round));
    else writeFileSync(join(folder, 'index.ts'), (good ? versions[round % 2] : versions[2 + (round % 3)])?.(round) ?? '');
    if (await said(round % 10 === 5 || good)) rejected++;
  }
  writeFileSync(join(folder, 'index.ts'), versions[0]?.(reloads + 1) ?? '');
  await said(true);
  const turns = await load.end();
  const end = await settled(gateway, place.home);
  const keptPerReload = await heapPerReload(join(folder, 'index.ts'), join(place.home, 'heap'), () => said(true));
  faults.push(...difference(before, end), ...doubles(calls, turns, place.home));
  gateway.child.kill('SIGTERM');
  const { code } = await gateway.ended;
  if (code !== 0) faults.push(`the gateway ended with ${code}`);
  return { turns, reloads, rejected, faults, keptPerReload };
}

/** Reloads without load, each of which collects garbage and writes down what is left. */
async function heapPerReload(file: string, heap: string, live: () => Promise<unknown>, count = 60): Promise<number> {
  const collect = `
    setFlagsFromString('--expose-gc');
    const gc = (globalThis.soakGc ??= runInNewContext('gc')); // a context of its own costs 200 KB: one is enough
    ctx.onLive(() => { setTimeout(() => { gc(); gc(); writeFileSync(${JSON.stringify(heap)}, String(process.memoryUsage().heapUsed)); }, 20); });`;
  const imports =
    "import { setFlagsFromString } from 'node:v8';\nimport { runInNewContext } from 'node:vm';\nimport { writeFileSync } from 'node:fs';\n";
  const sizes: number[] = [];
  for (let i = 0; i < count; i++) {
    rmSync(heap, { force: true });
    writeFileSync(file, `${imports}${probe(`return text('heap ${i}');`, collect)}`);
    await live();
    while (!existsSync(heap) || readFileSync(heap, 'utf8') === '') await new Promise((resolve) => setTimeout(resolve, 5));
    sizes.push(Number(readFileSync(heap, 'utf8')));
  }
  const [first, last] = [sizes[Math.floor(count / 4)] ?? 0, sizes.at(-1) ?? 0];
  return (last - first) / 1024 / (count - 1 - Math.floor(count / 4));
}

/** Waits for the swap, or for the rejection, that an edit leads to; tells whether it was rejected. */
function reader({ child }: Gateway) {
  let unread = '';
  let woken = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: string) => {
      unread += text;
      woken();
    });
  }
  return async (good: boolean): Promise<boolean> => {
    const pattern = good ? /is live after/ : /rejected, generation/;
    while (!pattern.test(unread)) await new Promise<void>((resolve) => (woken = resolve));
    unread = '';
    return !good;
  };
}

/** Clients over HTTP and WebSocket that never pause, and one long turn that is always in flight. */
function openLoad(gateway: Gateway, calls: string, clients: number, faults: string[]) {
  let asked = 0;
  const stop = new AbortController();
  // A conversation of its own now and then, so that memory tells of reloads and not of long histories.
  const sessionOf = (name: string) => `agent:main:${name}-${Math.floor(asked / 500)}`;
  const message = () => `[[tool:probe ${JSON.stringify({ n: ++asked, file: calls })}]]`;
  const http = async (name: string, text: () => string) => {
    while (!stop.signal.aborted) {
      const body = { model: 'instar/main', messages: [{ role: 'user', content: text() }] };
      const headers = { authorization: `Bearer ${gateway.token}`, 'x-instar-session-key': sessionOf(name) };
      const reply = await ask('POST', `${gateway.url}/v1/chat/completions`, body, headers).catch((error: Error) => ({
        status: 0,
        text: error.message,
      }));
      if (reply.status !== 200) faults.push(`${name}: HTTP ${reply.status} ${reply.text.slice(0, 200)}`);
    }
  };
  const socket = async (name: string) => {
    const open: Socket = await openSocket(gateway, (why) => stop.signal.aborted || faults.push(`${name}: the socket was dropped: ${why}`));
    while (!stop.signal.aborted)
      await open.turn(sessionOf(name), message()).catch((error: Error) => faults.push(`${name}: ${error.message}`));
    open.close();
  };
  const all = Array.from({ length: clients }, (_, i) => (i % 4 === 3 ? socket(`ws${i}`) : http(`http${i}`, message)));
  const long = http('long', () => '[[slow:700]] long');
  return {
    async end() {
      stop.abort();
      await Promise.all([...all, long]);
      return asked;
    },
  };
}

async function facts(gateway: Gateway, home: string) {
  const status = JSON.parse((await instar(home, ['status', '--json'])).stdout) as {
    inspection: { leases: { key: string }[]; retiring: unknown[] };
    active: unknown[];
  };
  const files = readdirSync(`/proc/${gateway.child.pid}/fd`).length;
  return {
    leases: status.inspection.leases.map(({ key }) => key).toSorted(),
    retiring: status.inspection.retiring.length,
    active: status.active.length,
    files,
  };
}

/** After the last client left, idle connections need a moment to be let go. */
async function settled(gateway: Gateway, home: string) {
  for (let i = 0; i < 50; i++) {
    const now = await facts(gateway, home);
    if (now.retiring === 0 && now.active === 0) return now;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return facts(gateway, home);
}

type Facts = Awaited<ReturnType<typeof facts>>;

function difference(before: Facts, end: Facts): string[] {
  const found: string[] = [];
  if (before.leases.join() !== end.leases.join()) found.push(`leases were ${before.leases.join()}, are ${end.leases.join()}`);
  if (end.retiring) found.push(`${end.retiring} old generation(s) are left`);
  if (end.active) found.push(`${end.active} turn(s) are left`);
  // Connections of our own keep-alive clients, and folders that are watched, come and go; a leak per reload would be hundreds.
  if (end.files > before.files + 60) found.push(`${before.files} open files became ${end.files}`);
  return found;
}

/** Each call once, each message done, each answer delivered. */
function doubles(calls: string, turns: number, home: string): string[] {
  const seen = Map.groupBy(readFileSync(calls, 'utf8').trim().split('\n'), (line) => line);
  const wrong = Array.from({ length: turns }, (_, i) => String(i + 1)).filter((n) => seen.get(n)?.length !== 1);
  const db = new DatabaseSync(join(home, 'state.db'), { readOnly: true });
  const count = (sql: string) => Number(db.prepare(sql).get()?.['n']);
  const open = count("SELECT count(*) n FROM inbox WHERE state <> 'done'");
  const lost = count("SELECT count(*) n FROM outbox WHERE state <> 'delivered'");
  db.close();
  return [
    ...(wrong.length ? [`${wrong.length} tool call(s) ran not exactly once, e.g. ${wrong.slice(0, 3).join()}`] : []),
    ...(open ? [`${open} message(s) are not done`] : []),
    ...(lost ? [`${lost} answer(s) are not delivered`] : []),
  ];
}
