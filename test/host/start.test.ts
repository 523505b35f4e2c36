import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { folder } from './folder.ts';
import { gateway, instar } from './instar.ts';

test('a start prints one block when it is ready, and SIGTERM ends it in good order', async () => {
  await using home = await folder();
  await using running = await gateway(home.path);
  running.child.kill('SIGTERM');
  const { code, out, err } = await running.ended;
  expect(code).toBe(0);
  expect(out).toMatch(/^Instar \d+\.\d+\.\d+ is ready \([\d.]+ s\)\n/);
  for (const label of ['page', 'model', 'agents', 'plugins', 'config', 'stop']) expect(out).toMatch(new RegExp(`^ {2}${label} +\\S`, 'm'));
  expect(out).toMatch(/http:\/\/127\.0\.0\.1:\d+\/#token=/);
  expect(err).toBe('stopping: waiting for what runs; once more to force it\n');
});

test('U004: a config that does not parse ends a start with 78 and one line', async () => {
  await using home = await folder({ 'instar.json5': "{ agents: { list: [ { id: 'main' }" });
  const { code, out, err } = await instar(home.path, ['start']).ended;
  expect([code, out]).toEqual([78, '']);
  expect(err.replace(home.path, '')).toBe(
    "instar: BOOT_FAILED: /instar.json5:1:35: invalid end of input in `{ agents: { list: [ { id: 'main' }`; a } or ] is missing, or move the file away to start without it\n",
  );
});

test('a second gateway on the same state folder ends with 75 and says who is first', async () => {
  await using home = await folder();
  await using first = await gateway(home.path);
  const { code, err } = await instar(home.path, ['start', '--port', '0']).ended;
  expect(code).toBe(75);
  expect(err).toMatch(
    new RegExp(`in use by a gateway at http://127.0.0.1:\\d+ \\(pid ${first.child.pid}, since .*\\); end it with "instar stop"`),
  );
});

test('a port in use ends a start with one line that says what to do', async () => {
  await using home = await folder();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const { code, err } = await instar(home.path, ['start', '--port', String(port)]).ended;
  server.close();
  expect(code).toBe(69);
  expect(err).toMatch(new RegExp(`^instar: BOOT_FAILED: port ${port} on 127\\.0\\.0\\.1 is in use.*--port.*\n$`));
});
