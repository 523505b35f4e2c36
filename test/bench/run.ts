/** `npm run bench`: Instar beside its floor in the same run, against a model without latency. Writes docs/performance.md. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMock } from './mock-process.ts';
import { ask, cpuMs, freePort, type Gateway, residentMB, spread, start } from './process.ts';

const root = join(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'instar-bench-'));
const turns = { cold: 7, warm: 200, parallel: 960, tools: 20, long: 500 };
const say = (text: string) => process.stderr.write(`${text}\n`);
let sessions = 0;
const session = () => `bench-${++sessions}`;

type Figures = Readonly<Record<'ready' | 'firstReply' | 'turn' | 'cpu' | 'perSecond' | 'memory', number>>;

async function instar(model: string, folder: string): Promise<Gateway> {
  const port = await freePort();
  const workspace = join(folder, 'ws');
  const config = join(work, `${port}.json5`);
  writeFileSync(join(work, 'small.txt'), 'small file\n');
  const provider = {
    baseUrl: `${model}/v1`,
    apiKey: 'sk-mock',
    api: 'openai-completions',
    models: [{ id: 'm', name: 'm', contextWindow: 1_000_000, maxTokens: 8192 }],
  };
  const settings = {
    gateway: { port, auth: { token: 'bench' }, http: { endpoints: { chatCompletions: { enabled: true } } } },
    agents: { defaults: { workspace, model: 'mock/m', maxConcurrent: 64 }, list: [{ id: 'main' }] },
    models: { providers: { mock: provider } },
  };
  writeFileSync(config, JSON.stringify(settings));
  const url = `http://127.0.0.1:${port}`;
  return {
    name: 'instar',
    url,
    args: [join(root, 'bin.js'), 'start', '--config', config],
    env: {
      INSTAR_HOME: join(folder, 'home'),
      INSTAR_NO_DETECT: '1',
    },
    turn: (text, key) => {
      const headers = {
        authorization: 'Bearer bench',
        'x-instar-session-key': `agent:main:bench:${key}`,
      };
      return ask(
        'POST',
        `${url}/v1/chat/completions`,
        {
          model: 'instar/main',
          messages: [
            {
              role: 'user',
              content: text,
            },
          ],
        },
        headers,
      );
    },
  };
}

async function floor(model: string): Promise<Gateway> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return {
    name: 'floor',
    url,
    args: [join(import.meta.dirname, 'floor.js'), String(port), model],
    turn: (text) =>
      ask('POST', `${url}/v1/chat/completions`, {
        model: 'm',
        messages: [
          {
            role: 'user',
            content: text,
          },
        ],
      }),
  };
}

async function good(gateway: Gateway, text: string, key = session()) {
  const reply = await gateway.turn(text, key);
  if (reply.status !== 200) throw new Error(`${gateway.name}: HTTP ${reply.status} ${reply.text.slice(0, 300)}`);
  return reply;
}

/** Fresh state each time: spawn → ready, spawn → first reply. */
async function cold(make: (folder: string) => Promise<Gateway>, name: string) {
  const ready: number[] = [];
  const first: number[] = [];
  const memory: number[] = [];
  for (let i = 0; i < turns.cold; i++) {
    const folder = join(work, `${name}-cold-${i}`);
    const gateway = await make(folder);
    await using running = await start(gateway, folder);
    ready.push(running.readyMs);
    await good(gateway, 'hi');
    first.push(performance.now() - running.spawnedAt);
    await new Promise((resolve) => setTimeout(resolve, 1500)); // idle: what start-up left behind has settled
    memory.push(residentMB(running.pid));
  }
  return { ready: spread(ready).median, firstReply: spread(first).median, memory: spread(memory).median };
}

async function warm(gateway: Gateway, pid: number) {
  for (let i = 0; i < 20; i++) await good(gateway, 'hi');
  const before = cpuMs(pid);
  const ms: number[] = [];
  for (let i = 0; i < turns.warm; i++) ms.push((await good(gateway, 'hi')).ms);
  const cpu = (cpuMs(pid) - before) / turns.warm;
  const began = performance.now();
  let left = turns.parallel;
  const client = async () => {
    while (left-- > 0) await good(gateway, 'hi');
  };
  await Promise.all(Array.from({ length: 32 }, client));
  return { turn: spread(ms).median, cpu, perSecond: turns.parallel / ((performance.now() - began) / 1000) };
}

async function measure(
  make: (folder: string) => Promise<Gateway>,
  name: string,
): Promise<{ gateway: Gateway; figures: Figures; pid: number; running: AsyncDisposable }> {
  say(`${name}: cold starts`);
  const colds = await cold(make, name);
  const folder = join(work, `${name}-warm`);
  const gateway = await make(folder);
  const running = await start(gateway, folder);
  say(`${name}: warm turns`);
  return { gateway, running, pid: running.pid, figures: { ...colds, ...(await warm(gateway, running.pid)) } };
}

/** What only a gateway with tools and sessions has. */
async function own(gateway: Gateway, requests: () => Promise<readonly { readonly bytes: number }[]>) {
  say('instar: tools, long session');
  const path = join(work, 'small.txt');
  const five: number[] = [];
  const plain: number[] = [];
  for (let i = 0; i < turns.tools; i++) {
    five.push((await good(gateway, `[[tools:5 read ${JSON.stringify({ path })}]]`)).ms);
    plain.push((await good(gateway, 'hi')).ms);
  }
  const body = (await requests()).at(-1)?.bytes ?? Number.NaN;
  const key = session();
  const long: number[] = [];
  for (let i = 0; i < turns.long; i++) long.push((await good(gateway, `turn ${i} of a long session, please answer`, key)).ms);
  return {
    toolRound: (spread(five).median - spread(plain).median) / 5,
    body: body / 1024,
    growth: spread(long.slice(-50)).median / spread(long.slice(0, 50)).median,
  };
}

interface Line {
  readonly what: string;
  readonly ours: number;
  readonly floor?: number;
  readonly bar: string;
  readonly met: boolean;
}

function lines(a: Figures, b: Figures, c: Awaited<ReturnType<typeof own>>): readonly Line[] {
  return [
    { what: 'spawn → ready (ms)', ours: a.ready, floor: b.ready, bar: '≤ 4 × floor', met: a.ready <= 4 * b.ready },
    { what: 'spawn → first reply (ms)', ours: a.firstReply, floor: b.firstReply, bar: '≤ 1,000 ms', met: a.firstReply <= 1000 },
    { what: 'warm turn, new session each (ms)', ours: a.turn, floor: b.turn, bar: '≤ 3 × floor', met: a.turn <= 3 * b.turn },
    { what: 'CPU per turn (ms)', ours: a.cpu, floor: b.cpu, bar: '≤ 8 ms', met: a.cpu <= 8 },
    {
      what: '32 parallel clients (turns/s)',
      ours: a.perSecond,
      floor: b.perSecond,
      bar: '≥ ⅓ of floor',
      met: a.perSecond >= b.perSecond / 3,
    },
    { what: 'one tool round (ms)', ours: c.toolRound, bar: '≤ 6 ms', met: c.toolRound <= 6 },
    { what: 'idle memory (MB RSS)', ours: a.memory, floor: b.memory, bar: '≤ 2.5 × floor', met: a.memory <= 2.5 * b.memory },
    { what: 'request body of a one-word message (KB)', ours: c.body, bar: '≤ 20 KB', met: c.body <= 20 },
    { what: '500 turns in one session: last 50 / first 50', ours: c.growth, bar: '≤ 1.2', met: c.growth <= 1.2 },
  ];
}

const number = (value: number | undefined) =>
  value === undefined ? '' : value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);

function table(rows: readonly Line[]): string {
  const body = rows.map(({ what, ours, floor: low, bar, met }) => {
    const ratio = low === undefined ? '' : (ours / low).toFixed(2);
    return `| ${what} | ${number(ours)} | ${number(low)} | ${ratio} | ${bar} | ${met ? 'yes' : '**no**'} |`;
  });
  return ['| Figure (median) | Instar | Floor | Ratio | Bar | Met |', '|---|--:|--:|--:|---|---|', ...body].join('\n');
}

await using mock = await startMock();
const low = await measure(() => floor(mock.url), 'floor');
const high = await measure((folder) => instar(mock.url, folder), 'instar');
const rest = await own(high.gateway, mock.requests);
await Promise.all([low.running[Symbol.asyncDispose](), high.running[Symbol.asyncDispose]()]);
const result = table(lines(high.figures, low.figures, rest));
console.log(result);
say('instar: edits');
const edits = execFileSync(process.execPath, [join(import.meta.dirname, 'reload.ts')], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
console.log(edits);
say('instar: policy');
const policy = execFileSync(process.execPath, [join(import.meta.dirname, 'policy.ts')], { encoding: 'utf8' });
console.log(policy);
const page = `# Performance

\`npm run bench\` starts Instar and a floor (a bare HTTP server that asks the same model and streams its bytes) one after the
other in one run, against a mock model without latency, and writes this page. Compare the ratios; the milliseconds are this
machine's: ${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}.

${result}

${edits}
${policy}
Instar runs as \`node bin.js start\`. CPU is that of its process alone.
`;
writeFileSync(join(root, 'docs/performance.md'), page);
rmSync(work, { recursive: true, force: true });
