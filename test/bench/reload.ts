/** `npm run bench:reload`: from a file's change on disk to its plugin live, of a 300-line plugin in a running gateway. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { spread } from './process.ts';

type Spread = ReturnType<typeof spread>;

const rounds = 40;
const home = mkdtempSync(join(tmpdir(), 'instar-reload-'));
const folder = join(home, 'plugins/bench');
const filler = Array.from({ length: 290 }, (_, i) => `export const line${i}: number = ${i};`).join('\n');
const source = (round: number) => `import { definePlugin } from 'instar';
${filler}
export default definePlugin({ name: 'bench', description: 'round ${round}', setup() {} });
`;

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'index.ts'), source(0));
const bin = join(import.meta.dirname, '../../bin.js');
const env = { ...process.env, INSTAR_HOME: home, INSTAR_NO_DETECT: '1' };
const child = spawn(process.execPath, [bin, 'start', '--port', '0', '--watch'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
let unread = '';
let woken = () => {};
child.stdout.setEncoding('utf8').on('data', (text: string) => {
  unread += text;
  woken();
});

/** The moment a line that matches arrives; the gateway prints it at the swap. */
async function line(pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const match = pattern.exec(unread);
    if (match) {
      unread = '';
      return match;
    }
    await new Promise<void>((resolve) => {
      woken = resolve;
    });
  }
}

await line(/^ {2}stop /m);
const live: number[] = [];
const watch: number[] = [];
const bundled: number[] = [];
const swap: number[] = [];
for (let round = 1; round <= rounds; round++) {
  await new Promise((resolve) => setTimeout(resolve, 150)); // a person saves now and then
  const began = performance.now();
  writeFileSync(join(folder, 'index.ts'), source(round));
  const [, all, bundle, build] = await line(/is live after (\d+) ms \((\d+) to read and bundle, (\d+) to build and swap\): bench/);
  live.push(performance.now() - began);
  watch.push(performance.now() - began - Number(all));
  bundled.push(Number(bundle));
  swap.push(Number(build));
}
child.kill('SIGTERM');
await new Promise((resolve) => child.once('exit', resolve));
rmSync(home, { recursive: true, force: true });
const [whole, seen, read, inner] = [live, watch, bundled, swap].map((each) => spread(each.slice(1))) as [Spread, Spread, Spread, Spread];
const met = whole.median <= 100 && whole.p95 <= 250;
console.log(`| Edit → live, 300-line plugin | median | p95 |
|---|--:|--:|
| from the change on disk (ms; bar 100 / 250: ${met ? 'met' : '**missed**'}) | ${whole.median} | ${whole.p95} |
| of that, until it is seen and told (ms) | ${seen.median} | ${seen.p95} |
| read and bundle (ms) | ${read.median} | ${read.p95} |
| build and swap of the generation (ms) | ${inner.median} | ${inner.p95} |`);
