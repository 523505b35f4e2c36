import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { VitalsWindow } from '../../plugins/vitals/contract.ts';
import { keepSection } from '../bench/section.ts';
import { load, type LoadResult } from './load.ts';
import { memoryTrend } from './memory.ts';
import { realistic } from './pace.ts';

const sessions = 200;
const bars = { p99: 50, bytesPerTurn: 200, rssGrowth: 0.1 };
/** Shorter runs are told, not judged by their memory, and not written down. */
const least = { judged: 10, written: 15 };
/** A window in which other processes kept the gateway waiting for more of the time tells of them. The mock and the clients are some. */
const quiet = 0.1;

interface Bar {
  readonly text: string;
  readonly met: boolean;
}
type Line = readonly [name: string, value: string, bar?: Bar | undefined];

/** Runs the load, prints what came of it, and returns what was wrong. A full run goes into docs/performance.md. */
export async function report(minutes: number): Promise<readonly string[]> {
  const result = await load({ sessions, seconds: minutes * 60, pace: realistic, tell: console.log });
  const { rows, faults } = judge(result, minutes);
  const table = ['| 200 sessions at once, at the pace of a model | Value | Bar | Met |', '|---|--:|---|---|', ...rows].join('\n');
  console.log(`\n${table}\n`);
  if (minutes >= least.written) write(table, minutes);
  return faults;
}

function judge(result: LoadResult, minutes: number) {
  const { turns, seconds, faults, waits } = result;
  const sorted = waits.toSorted((a, b) => a - b);
  const wait = (q: number) => `${Math.round(sorted[Math.floor(q * (sorted.length - 1))] ?? 0)} ms`;
  const lines: readonly Line[] = [
    ['messages, each answered once', turns.toLocaleString('en'), { text: 'all', met: faults.length === 0 }],
    ['turns a second', (turns / seconds).toFixed(1)],
    ['answer, beyond what the model took: median, p99', `${wait(0.5)}, ${wait(0.99)}`],
    ...delayLines(result),
    ...memoryLines(result, minutes),
  ];
  const missed = lines.flatMap(([name, value, bar]) => (bar && !bar.met ? [`${name}: ${value}, the bar is ${bar.text}`] : []));
  const rows = lines.map(
    ([name, value, bar]) => `| ${name} | ${value} | ${bar?.text ?? ''} | ${bar ? (bar.met ? 'yes' : '**no**') : ''} |`,
  );
  return { rows, faults: [...faults, ...missed] };
}

/** What is late while other processes have the cores is not the gateway's: where the whole run is, its calm windows are judged. */
function delayLines({ vitals: { loop }, windows }: LoadResult): readonly Line[] {
  const calm = windows.filter(isQuiet);
  const bar = (ms: number): Bar => ({ text: `< ${bars.p99} ms`, met: ms < bars.p99 });
  const ofCalm = worst(calm);
  const isJudged = loop.p99 < bars.p99 || calm.length === windows.length;
  const instead: Line = calm.length
    ? [`… in the worst of the ${calm.length} (of ${windows.length}) windows in which the machine was free`, `${ofCalm} ms`, bar(ofCalm)]
    : ['… not judged', 'the machine was never free for 10 s'];
  return [
    ['event loop delay p99, whole run', `${loop.p99} ms`, isJudged ? bar(loop.p99) : undefined],
    ['event loop delay p99, worst 10 s', `${worst(windows)} ms`],
    ...(isJudged ? [] : [instead]),
    ['event loop delay, the longest', `${loop.max} ms`],
    ['kept waiting by other processes', `${Math.round(100 * waitedShare(windows))} % of the time`],
  ];
}

function memoryLines({ heap }: LoadResult, minutes: number): readonly Line[] {
  const { bytesPerTurn, rssGrowth, rss, heap: left } = memoryTrend(heap);
  const sizes: Line = ['resident memory; heap after collection', `${mb(rss)}; ${mb(left)}`];
  if (minutes < least.judged) return [['heap kept per turn', `told from ${least.judged} minutes on`], sizes];
  const kept = { text: `≤ ${bars.bytesPerTurn} bytes`, met: bytesPerTurn <= bars.bytesPerTurn };
  const flat = { text: `≤ ${100 * bars.rssGrowth} %`, met: rssGrowth <= bars.rssGrowth };
  return [
    ['heap kept per turn', `${Math.round(bytesPerTurn)} bytes`, kept],
    ['growth of resident memory, once warm', `${(100 * rssGrowth).toFixed(1)} %`, flat],
    sizes,
  ];
}

const worst = (windows: readonly VitalsWindow[]) => Math.max(...windows.map(({ loop }) => loop.p99));
const isQuiet = ({ waitedMs = 0, ms }: VitalsWindow) => waitedMs / ms <= quiet;
const waitedShare = (windows: readonly VitalsWindow[]) =>
  windows.reduce((sum, { waitedMs = 0 }) => sum + waitedMs, 0) / windows.reduce((sum, { ms }) => sum + ms, 0);
const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`;

function write(table: string, minutes: number) {
  const file = join(import.meta.dirname, '../../docs/performance.md');
  const machine = `${minutes} minutes on ${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}:`;
  writeFileSync(file, keepSection(readFileSync(file, 'utf8'), 'soak', `${machine}\n\n${table}`));
}
