import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { StartReport } from '../../../kernel/index.ts';
import { Inbox } from '../../../plugins/inbox/contract.ts';
import { Outbox } from '../../../plugins/outbox/contract.ts';
import { start } from '../../host/booted.ts';
import { type Folder, folder } from '../../host/folder.ts';

const root = join(import.meta.dirname, '../../..');
const examples = globSync('examples/openclaw/*/openclaw.json', { cwd: root }).toSorted();
let userHome: Folder;

/** `~` in the examples is a folder of the test. */
beforeAll(async () => {
  userHome = await folder();
  vi.stubEnv('HOME', userHome.path);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await userHome[Symbol.asyncDispose]();
});

test('there are at least 12 OpenClaw examples, each with a paragraph that explains it', () => {
  expect(examples.length).toBeGreaterThanOrEqual(12);
  const isExplained = (file: string) => /^\/\/ .{60,}\n\/\/ .{20,}\n/.test(readFileSync(join(root, file), 'utf8'));
  expect(examples.filter((file) => !isExplained(file))).toEqual([]);
});

/** No key is set: the turn asks for the embedded model, whatever the file names. */
test.each(examples)('SPEC 1.6: %s starts as it is, says what has no effect, and its default agent answers', async (file) => {
  await using home = await folder();
  const env = { INSTAR_NO_DETECT: '1', HOME: userHome.path, ...variablesOf(file) };
  await using gateway = await start(home, { configFile: join(root, file), env });
  expect(gateway.notices).toEqual([]);
  expect((await gateway.inspect()).leftOut).toEqual([]);
  const report = await gateway.run((run) => run.call(StartReport, []));
  expect(report.find(({ label }) => label === 'openclaw')?.value).toMatch(
    /^\d+ keys? in use, \d+ (has|have) no effect here; "instar config check .*openclaw\.json" lists them$/,
  );
  const itemId = await gateway.run(async (run) => {
    const receipt = await run.get(Inbox).enqueue({
      agentId: /^[\w-]+/.exec(report.find(({ label }) => label === 'agents')?.value ?? '')?.[0] ?? '',
      sessionKey: 'agent:main:example',
      content: 'Hello there',
      provenance: { kind: 'external_user' },
      subject: { channel: 'webchat', sender: 'owner', session: 'main' },
      route: 'nobody:1',
      model: 'demo/demo',
    });
    return receipt.itemId;
  });
  const said = () => gateway.run(async (run) => (await run.get(Outbox).find(itemId))?.payloads);
  await expect.poll(said).toEqual([{ text: expect.stringMatching(/\w/) }]);
});

/** Every variable that a file and its parts name. */
function variablesOf(file: string): Readonly<Record<string, string>> {
  const texts = globSync('*.json', { cwd: join(root, dirname(file)) }).map((name) => readFileSync(join(root, dirname(file), name), 'utf8'));
  const names = texts.join('').matchAll(/(?<!\$)\$\{(\w+)\}/g);
  return Object.fromEntries([...names].map(([, name = '']) => [name, 'a-value-of-some-length']));
}
