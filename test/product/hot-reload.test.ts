import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Gateway, instar, startGateway, tempHome, withMock } from '../support/instar.ts';
import { startMock } from '../support/mock-model.ts';

const plugin = (says: string) => `
import { definePlugin, defineTool, RegisterTools, text } from 'instar';
import { words } from './words.ts';
const greet = defineTool({ name: 'greet', description: 'greets', parameters: { type: 'object', properties: {} }, execute: () => text(words + ' ${says}') });
export default definePlugin({ name: 'mine', description: 'greets', setup: (ctx) => ctx.tap(RegisterTools, (tools) => [...tools, greet]) });
`;

/** Waits for a line that was not there before. */
function lines({ child }: Gateway) {
  let unread = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: string) => (unread += text));
  return async (pattern: RegExp) => {
    await expect.poll(() => unread, { interval: 10, timeout: 10_000 }).toMatch(pattern);
    unread = '';
  };
}

async function scene() {
  const mock = await startMock();
  const place = tempHome();
  const config = (more: object = {}) => JSON.stringify(withMock(mock.url, place.home, more));
  writeFileSync(place.file, config());
  const gateway = await startGateway(place.home, ['--watch']);
  const says = async (tool: string) => {
    await instar(place.home, ['agent', '--message', `[[tool:${tool} {}]]`, '--session', tool]);
    return JSON.stringify(((mock.bodies().at(-1)?.['messages'] ?? []) as unknown[]).at(-1));
  };
  return {
    mock,
    place,
    config,
    gateway,
    says,
    told: lines(gateway),
    file: (name: string) => join(place.home, 'plugins/mine', name),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await mock[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

test('SPEC 14.1: a plugin is live as its files are saved; one that does not compile leaves the last good one running', async () => {
  await using s = await scene();
  mkdirSync(join(s.place.home, 'plugins/mine'), { recursive: true });
  writeFileSync(s.file('words.ts'), "export const words = 'hello';");
  writeFileSync(s.file('index.ts'), plugin('one'));
  await s.told(/generation \d+ is live after \d+ ms \(.*\): mine \(new\)/);
  expect(await s.says('greet')).toContain('hello one');
  writeFileSync(s.file('words.ts'), "export const words = 'good day';");
  await s.told(/mine \(its code changed\)/);
  expect(await s.says('greet')).toContain('good day one');
  writeFileSync(s.file('index.ts'), 'export default {{{');
  await s.told(/rejected, generation \d+ goes on: .*mine\/index\.ts/);
  expect(await s.says('greet')).toContain('good day one');
  rmSync(join(s.place.home, 'plugins/mine'), { recursive: true });
  await s.told(/mine \(removed\)/);
});

test('SPEC 14.3: a config edit is live; a bad one changes nothing and says file:line:column', async () => {
  await using s = await scene();
  const agents = { defaults: { workspace: join(s.place.home, 'ws'), model: 'mock/m' }, list: [{ id: 'ada' }] };
  writeFileSync(s.place.file, s.config({ agents }));
  await s.told(/agents \(its config changed\)/);
  writeFileSync(s.place.file, "{\n  agents: { list: [{ id: 'ada', modle: 1 }] },\n}");
  await s.told(
    /rejected, generation \d+ goes on: \S+instar\.json5:2:33 agents\.list\[0\]\.modle: unknown key "modle" \(did you mean "model"\?\)/,
  );
  // Over the file by a rename, as editors do; then cut short, gone, and back.
  writeFileSync(`${s.place.file}.new`, s.config());
  renameSync(`${s.place.file}.new`, s.place.file);
  await s.told(/agents \(its config changed\)/);
  truncateSync(s.place.file, 40);
  await s.told(/rejected/);
  rmSync(s.place.file);
  await s.told(/rejected.*cannot read/);
  writeFileSync(s.place.file, s.config({ agents }));
  await s.told(/agents \(its config changed\)/);
});

test('U003: an edit that comes in chunks is live once it is whole, and a half one keeps no SIGTERM from a clean end', async () => {
  await using s = await scene();
  const text = s.config({ session: { ephemeralTtl: '1h' } });
  for (const end of [text.length / 3, (2 * text.length) / 3, text.length]) writeFileSync(s.place.file, text.slice(0, end));
  await s.told(/sessions \(its config changed\)/);
  writeFileSync(s.place.file, text.slice(0, 50));
  s.gateway.child.kill('SIGTERM');
  expect((await s.gateway.ended).code).toBe(0);
});

test('SPEC 14.1: a turn in flight finishes on the code it began with', async () => {
  await using s = await scene();
  const slow = instar(s.place.home, ['agent', '--message', '[[hold]] patience', '--json']);
  await expect.poll(() => s.mock.requests.length, { interval: 5, timeout: 10_000 }).toBe(1);
  writeFileSync(
    s.place.file,
    s.config({ agents: { defaults: { workspace: join(s.place.home, 'ws'), model: 'mock/m' }, list: [{ id: 'ada' }] } }),
  );
  await s.told(/agents \(its config changed\)/);
  s.mock.release();
  expect(JSON.parse((await slow).stdout)).toMatchObject({ text: 'echo: [[hold]] patience' });
});

test('an edit of an included file and of .env is live, and a rotated key binds the next request', async () => {
  await using mock = await startMock();
  using place = tempHome();
  const { models, ...rest } = withMock(mock.url, place.home);
  const withKey = { providers: { mock: { ...models.providers.mock, apiKey: '${MOCK_KEY}' } } };
  writeFileSync(place.file, JSON.stringify({ ...rest, models: { $include: './models.json5' } }));
  writeFileSync(join(place.home, 'models.json5'), JSON.stringify(withKey));
  writeFileSync(join(place.home, '.env'), 'MOCK_KEY=first-key-of-all\n');
  await using gateway = await startGateway(place.home, ['--watch']);
  const told = lines(gateway);
  const key = async () => {
    await instar(place.home, ['agent', '--message', 'hi']);
    return mock.requests.at(-1)?.headers.authorization;
  };
  expect(await key()).toBe('Bearer first-key-of-all');
  writeFileSync(join(place.home, '.env'), 'MOCK_KEY=second-key-of-all\n');
  await told(/models \(its config changed\)/);
  expect(await key()).toBe('Bearer second-key-of-all');
  writeFileSync(
    join(place.home, 'models.json5'),
    JSON.stringify({ providers: { mock: { ...withKey.providers.mock, apiKey: 'third-key-of-all' } } }),
  );
  await told(/models \(its config changed\)/);
  expect(await key()).toBe('Bearer third-key-of-all');
});
