import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instar, readLog, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

test('SPEC 15.1: with nothing configured it starts, says what it is and answers; a stop is clean', async () => {
  using place = tempHome();
  await using gateway = await startGateway(place.home);
  expect(gateway.out.stdout).toMatch(/page +http:\/\/127\.0\.0\.1:\d+\/#token=/);
  expect(gateway.out.stdout).toMatch(/model +demo\/demo \(built in/);
  expect(gateway.out.stdout).not.toContain('?token');
  const page = await fetch(gateway.url);
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("default-src 'none'")]);
  const said = await instar(place.home, ['chat', 'read README.md and say what this is']);
  expect(said).toMatchObject({ code: 0, stderr: '' });
  expect(said.stdout).toContain('No language model is configured');
  expect(said.stdout).toContain('workspace of an Instar agent');
  expect(statSync(join(place.home, 'token')).mode & 0o777).toBe(0o600);
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(existsSync(join(place.home, 'gateway.json'))).toBe(false);
});

test('SIGTERM lets the running turn finish; what arrived is answered', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  await using gateway = await startGateway(place.home);
  const asked = instar(place.home, ['agent', '--message', '[[hold]] last words', '--json']);
  await expect.poll(() => mock.requests.length, { interval: 5, timeout: 10_000 }).toBe(1);
  gateway.child.kill('SIGTERM');
  await expect.poll(() => gateway.out.stderr, { interval: 5, timeout: 10_000 }).toContain('waiting for what runs');
  mock.release();
  expect(JSON.parse((await asked).stdout)).toMatchObject({ text: 'echo: [[hold]] last words' });
  expect((await gateway.ended).code).toBe(0);
});

test('a second signal forces the end', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  await using gateway = await startGateway(place.home);
  const asked = instar(place.home, ['agent', '--message', '[[hold]] never']);
  await expect.poll(() => mock.requests.length, { interval: 5, timeout: 10_000 }).toBe(1);
  gateway.child.kill('SIGINT');
  await expect.poll(() => gateway.out.stderr, { interval: 5, timeout: 10_000 }).toContain('once more to force');
  await new Promise((resolve) => setTimeout(resolve, 350)); // two signals within 300 ms count as one: npm doubles them
  gateway.child.kill('SIGINT');
  await gateway.ended;
  expect((await asked).stdout).not.toContain('never'); // the model, which says nothing, was not waited for
});

test('three agents at once, with and without a gateway', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  const three = () =>
    Promise.all(
      ['a', 'b', 'c'].map((name) =>
        instar(place.home, ['agent', '--message', name, '--session', name, '--json']).then(
          (end) => JSON.parse(end.stdout || end.stderr).text,
        ),
      ),
    );
  expect(await three()).toEqual(['echo: a', 'echo: b', 'echo: c']);
  await using _ = await startGateway(place.home);
  expect(await three()).toEqual(['echo: a', 'echo: b', 'echo: c']);
});

test('a second gateway on one state folder says who holds it and exits', async () => {
  using place = tempHome();
  await using first = await startGateway(place.home);
  const second = await instar(place.home, ['start', '--port', '0']);
  expect(second.code).toBe(75);
  expect(second.stderr).toMatch(new RegExp(`in use by a gateway at ${first.url}.*pid ${first.child.pid}`));
});

test('after SIGKILL nothing is lost and nothing doubled', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  {
    await using gateway = await startGateway(place.home);
    await instar(place.home, ['agent', '--message', 'before']);
    void instar(place.home, ['agent', '--message', '[[hold]] in flight']);
    await expect.poll(() => mock.requests.length, { interval: 5, timeout: 10_000 }).toBe(2);
    gateway.child.kill('SIGKILL');
  }
  mock.release();
  await using _ = await startGateway(place.home);
  const lines = () => {
    const { sessionFile } = { sessionFile: transcriptOf(place.home) };
    return readFileSync(sessionFile, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line).message);
  };
  await expect.poll(() => lines().map((m) => m.role), { timeout: 10_000 }).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(lines().at(-1).content).toEqual([{ type: 'text', text: 'echo: [[hold]] in flight' }]);
});

function transcriptOf(home: string): string {
  const folder = join(home, 'agents/main/sessions');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
}

test('the log is JSON lines and holds no secret', async () => {
  await using mock = await startMock();
  using place = tempHome();
  writeFileSync(place.file, JSON.stringify(withMock(mock.url, place.home)));
  await using gateway = await startGateway(place.home);
  await instar(place.home, ['agent', '--message', '[[status:401]]']);
  gateway.child.kill('SIGTERM');
  await gateway.ended;
  expect(readLog(place.home).length).toBeGreaterThan(0);
  const text = readFileSync(join(place.home, 'logs/instar.log'), 'utf8');
  expect(text).not.toContain(gateway.token);
  expect(text).not.toContain('sk-mock');
});
