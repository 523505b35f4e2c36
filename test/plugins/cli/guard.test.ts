import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Status } from '../../../plugins/cli/status.ts';
import { instar, startGateway, tempHome } from '../../support/instar.ts';

const plugins = {
  flooding:
    "const t = setInterval(() => { throw new Error('again at ' + performance.now()); }, 1); ctx.signal.addEventListener('abort', () => clearInterval(t));",
  texting: "setTimeout(() => { throw 'just a text'; }, 1);",
  refused: "connect({ port: 1, host: '127.0.0.1' });",
  rejecting: "void Promise.resolve().then(() => { throw new TypeError('no such thing'); });",
};

test('what nothing caught is told once with its plugin, counted, and shown by status, list and inspect; the gateway goes on', async () => {
  using place = tempHome({});
  for (const [name, body] of Object.entries(plugins)) {
    mkdirSync(join(place.home, 'plugins', name), { recursive: true });
    const text = `import { definePlugin } from 'instar';\nimport { connect } from 'node:net';\nexport default definePlugin({ name: '${name}', description: '', setup(ctx) {\n  ctx.onLive(() => { ${body} });\n} });\n`;
    writeFileSync(join(place.home, 'plugins', name, 'index.ts'), text);
  }
  await using gateway = await startGateway(place.home);
  const status = async () => JSON.parse((await instar(place.home, ['status', '--json'])).stdout) as Status;
  const counts = async () =>
    Object.fromEntries((await status()).faults.map(({ plugin, code, count }) => [plugin, `${code} ${Math.min(count, 100)}`]));
  await expect.poll(counts, { timeout: 20_000 }).toEqual({
    flooding: 'UNCAUGHT_EXCEPTION 100',
    texting: 'UNCAUGHT_EXCEPTION 1',
    refused: 'UNCAUGHT_EXCEPTION 1',
    rejecting: 'UNHANDLED_REJECTION 1',
  });
  expect((await gateway.get('/healthz')).status).toBe(200);
  const lines = gateway.out.stderr.split('\n').filter((line) => line.includes('flooding'));
  expect(lines[0]).toMatch(
    /^error plugin "flooding" threw and nothing caught it: again at \S+ \(.*flooding\/index\.ts:4\); the gateway goes on$/,
  );
  expect(lines.length).toBeLessThan(7); // 1, 10, 100 … times
  for (const [name, said] of Object.entries({ texting: 'just a text', refused: 'connect ECONNREFUSED', rejecting: 'no such thing' })) {
    expect(gateway.out.stderr).toMatch(new RegExp(`error plugin "${name}" .*${said}`));
  }
  const shown = (await instar(place.home, ['status'])).stdout;
  expect(shown).toMatch(
    /^faults\n(?: {2}.*\n)* {2}texting +UNCAUGHT_EXCEPTION: threw and nothing caught it: just a text \(\d+ s ago, in generation 1\)$/m,
  );
  expect((await instar(place.home, ['plugins', 'list'])).stdout).toMatch(/^ {2}refused .* 1 fault$/m);
  const { stdout } = await instar(place.home, ['plugins', 'inspect', 'flooding']);
  expect(stdout).toMatch(
    /^faults\n {2}UNCAUGHT_EXCEPTION .*flooding\/index\.ts:4: threw .* \(\d+ times, last \d+ s ago, in generation 1\)$/m,
  );
});
