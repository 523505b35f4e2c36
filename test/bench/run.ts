/** `npm run bench`: Instar beside its floor in the same run, against a model without latency. Writes docs/performance.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { floor, good, instar } from './gateways.ts';
import { startMock } from './mock-process.ts';
import { cpuMs, type Gateway, residentMB, spread, start } from './process.ts';
import { sectionOf } from './section.ts';

const root = join(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'instar-bench-'));
const turns = { cold: 7, warm: 200, parallel: 960, tools: 20, long: 500 };
const say = (text: string) => process.stderr.write(`${text}\n`);
let sessions = 0;
const session = () => `bench-${++sessions}`;

type Figures = Readonly<Record<'ready' | 'firstReply' | 'turn' | 'cpu' | 'perSecond' | 'memory', number>>;

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
    await good(gateway, 'hi', session());
    first.push(performance.now() - running.spawnedAt);
    await new Promise((resolve) => setTimeout(resolve, 1500)); // idle: what start-up left behind has settled
    memory.push(residentMB(running.pid));
  }
  return { ready: spread(ready).median, firstReply: spread(first).median, memory: spread(memory).median };
}

async function warm(gateway: Gateway, pid: number) {
  for (let i = 0; i < 20; i++) await good(gateway, 'hi', session());
  const before = cpuMs(pid);
  const ms: number[] = [];
  for (let i = 0; i < turns.warm; i++) ms.push((await good(gateway, 'hi', session())).ms);
  const cpu = (cpuMs(pid) - before) / turns.warm;
  const began = performance.now();
  let left = turns.parallel;
  const client = async () => {
    while (left-- > 0) await good(gateway, 'hi', session());
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
  const path = join(work, 'small-$i.txt'); // the same call five times over would be taken for a loop
  const five: number[] = [];
  const plain: number[] = [];
  for (let i = 0; i < turns.tools; i++) {
    five.push((await good(gateway, `[[tools:5 read ${JSON.stringify({ path })}]]`, session())).ms);
    plain.push((await good(gateway, 'hi', session())).ms);
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

const loadText = `Each of 200 HTTP clients sends its next message once the last one is answered. _At a model's pace_ the mock thinks for 100 to
500 ms and streams 20 tokens in 1 to 3 s; what is told of an answer is the time beyond that. Event loop delay is how late a
timer of 20 ms came, from the start on: it is the gateway's own where no other process had its core. \`instar status\` tells
it of a gateway that runs, with the share of time in which other processes kept it waiting.

\`npm run soak -- load [minutes]\` keeps 200 sessions busy over four WebSockets that watch every event of every session, for
20 minutes; it counts on the wire, in the store and in the transcripts that each message was answered exactly once. V8 lets its young
generation grow to 128 MB where the machine has memory: with \`NODE_OPTIONS=--max-semi-space-size=16\` the same load is held
with about 100 MB less.`;

await using mock = await startMock();
const low = await measure(() => floor(mock.url), 'floor');
for (let i = 0; i < 5; i++) writeFileSync(join(work, `small-${i}.txt`), 'small file\n');
const high = await measure((folder) => instar(mock.url, folder, `${folder}.json5`), 'instar');
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
const measured = (what: string, script: string) => {
  say(what);
  const text = execFileSync(process.execPath, [join(import.meta.dirname, script)], { encoding: 'utf8' });
  console.log(text);
  return text;
};
const policy = measured('instar: policy', 'policy.ts');
const marks = measured('instar: text of others', 'marks.ts');
const crowd = measured('floor, instar: 200 sessions at once', 'crowd.ts');
const file = join(root, 'docs/performance.md');
const page = `# Performance

\`npm run bench\` starts Instar and a floor (a bare HTTP server that asks the same model and streams its bytes) one after the
other in one run, against a mock model without latency, and writes this page. Compare the ratios; the milliseconds are this
machine's: ${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}.

${result}

${edits}
${policy}
${marks}
Instar runs as \`node bin.js start\`. CPU is that of its process alone.

## 200 sessions at once

${crowd}
${loadText}

${sectionOf(existsSync(file) ? readFileSync(file, 'utf8') : '', 'soak')}
`;
writeFileSync(file, page);
rmSync(work, { recursive: true, force: true });
