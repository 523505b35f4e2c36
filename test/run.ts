import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from './support/package.ts';
import { countTests, type Tally, sum, summary } from './support/tally.ts';

const root = join(import.meta.dirname, '..');
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` };

/** What `npm test` runs: the linter, which checks types too, beside every test. Arguments are vitest's: `npm test -- kernel`. */
async function runAll(vitestArguments: readonly string[]): Promise<Tally> {
  // Side by side: tests wait for child processes now and then.
  const checks = process.env['INSTAR_TEST_ALL'] ? [check('lint'), check('typecheck')] : [check('lint')];
  return sum(await Promise.all([...checks, tests(vitestArguments)]));
}

/** One script of package.json, counted as one check. Its output is held back, so that two at once do not mix. */
async function check(script: string): Promise<Tally> {
  const startedAt = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const ok = (await exitCode(child)) === 0;
  process.stdout.write(Buffer.concat(output));
  console.log(`${ok ? '✓' : '✗'} ${script} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

async function tests(vitestArguments: readonly string[]): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), 'instar-test-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    // Tests that start the product start what a user installs, built once; vitest on its own starts the checkout.
    const product = { INSTAR_TEST_BIN: await buildPackage(join(folder, 'product')), NODE_COMPILE_CACHE: join(folder, 'compiled') };
    const child = spawn('vitest', ['run', ...reporters, ...vitestArguments], { cwd: root, env: { ...env, ...product }, stdio: 'inherit' });
    const ok = (await exitCode(child)) === 0;
    return countTests(await readFile(report, 'utf8').catch(() => undefined), ok);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function exitCode(child: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

const tally = await runAll(process.argv.slice(2));
console.log(summary(tally));
process.exitCode = tally.failed > 0 ? 1 : 0;
