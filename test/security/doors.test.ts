import { mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tool } from '../../kernel/index.ts';
import { Resolve } from '../../plugins/fetch/contract.ts';
import { bundled } from '../support/bundled.ts';
import { plugin } from '../support/kernel.ts';
import { allowAll, textOf, type Toolbench, toolbench } from '../support/toolbench.ts';

/** What a parameter of a tool leads to, and a call of the tool that goes through it. */
interface Door {
  readonly kind: 'path' | 'url' | 'process' | 'environment' | 'none';
  readonly call?: (value: string) => object;
}

const none: Door = { kind: 'none' };
const patch = (line: string, body = '') => `*** Begin Patch\n*** ${line}\n${body}*** End Patch`;

/** Every parameter of every tool whose name says that it may lead somewhere. A new one fails below until it is told here. */
const doors: Readonly<Record<string, Door>> = {
  'read.path': { kind: 'path', call: (path) => ({ path }) },
  'write.path': { kind: 'path', call: (path) => ({ path, content: 'evil' }) },
  'write.content': none,
  'edit.path': { kind: 'path', call: (path) => ({ path, oldText: 'SECRET', newText: 'evil' }) },
  'apply_patch.input': { kind: 'path', call: (path) => ({ input: patch(`Update File: ${path}`, '@@\n-SECRET\n+evil\n') }) },
  'exec.command': { kind: 'process', call: (command) => ({ command }) },
  'exec.cwd': { kind: 'path', call: (cwd) => ({ command: 'cat key; echo evil > key', cwd }) },
  'exec.env': { kind: 'environment', call: () => ({ command: 'env' }) },
  'web_fetch.url': { kind: 'url', call: (url) => ({ url }) },
  // Names of config values, looked up in the config's own tree.
  'gateway.path': none,
};
const telling = /path|file|folder|dir$|cwd|workdir|url|uri|href|host|command|argv|script|^env$|input|image|src|attach|avatar/i;

const secrets = [
  'OPENAI_API_KEY',
  'INSTAR_GATEWAY_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'DB_PASSWORD',
  'SSH_AUTH_SOCK',
  'LD_PRELOAD',
  'NODE_OPTIONS',
  'BASH_ENV',
  'GITHUB_TOKEN',
];
const hosts: Readonly<Record<string, readonly string[]>> = {
  'inside.test': ['10.0.0.1'],
  'meta.test': ['169.254.169.254'],
  'v6.test': ['::ffff:127.0.0.1'],
};

let at: Toolbench;
let tools: readonly Tool[];
let secret: string;
beforeAll(async () => {
  const env = { PATH: process.env.PATH, INSTAR_NO_DETECT: '1', ...Object.fromEntries(secrets.map((name) => [name, 'SECRET'])) };
  const resolver = plugin('resolver', (ctx) => ctx.provide(Resolve, async (host) => hosts[host] ?? []), { provides: [Resolve] });
  const config = { gateway: { auth: { token: 'test-token-of-doors' } }, tools: { exec: { security: 'full', ask: 'off' } } };
  at = await toolbench([...(await bundled(['policy'])), resolver, allowAll], config, { env });
  tools = await at.test.kernel.run(async (run) => (await run.tools()).tools, { subject });
  secret = join(await realpath(tmpdir()), `instar-doors-${process.pid}`);
  await mkdir(at.workspace, { recursive: true });
  await mkdir(secret);
  await writeFile(join(secret, 'key'), 'SECRET');
  await writeFile(join(at.test.home, 'key'), 'SECRET');
  for (const [name, to] of [
    ['folder', secret],
    ['link', join(secret, 'key')],
    ['self', '/proc/self/root'],
    ['state', at.test.home],
  ] as const)
    await symlink(to, join(at.workspace, name));
}, 60_000);
afterAll(async () => {
  await at[Symbol.asyncDispose]();
  await rm(secret, { recursive: true, force: true });
});

const subject = { agent: 'main', sender: 'owner', session: 'main' } as const;
const through = (kind: Door['kind']) => Object.entries(doors).filter(([, door]) => door.kind === kind);
const call = (door: string, value: string) => at.call(door.split('.')[0] ?? '', doors[door]?.call?.(value), { subject });

test('DESIGN 6: every parameter that may lead to a path, an address or a process is told in the table', () => {
  const found = tools.flatMap(({ name, parameters }) =>
    Object.keys(parameters['properties'] ?? {})
      .filter((key) => telling.test(key))
      .map((key) => `${name}.${key}`),
  );
  expect(found.filter((door) => !(door in doors))).toEqual([]);
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read', 'write', 'edit', 'apply_patch', 'exec', 'web_fetch']));
});

const paths = [
  '../../{secret}/key', '{secret}/key', 'folder/key', 'link', 'folder/../folder/key', './/folder//key', 'self{secret}/key', '/proc/self/root{secret}/key',
  '/proc/self/cwd/../key', '/proc/self/environ', '/proc/1/environ', '{home}/key', 'state/key', '../key', '../KEY', '..\\key', '．．/key', '..%2fkey', '\u202e../key', 'folder\0/key', '~root/.ssh/id_rsa', '/etc/shadow', '/dev/fd/0', '/dev/tcp/127.0.0.1/1',
]; // biome-ignore format: a list to read across
describe.each(through('path').map(([name]) => name))('S13: door %s', (door) => {
  test.each(paths)('does not lead to %j', async (path) => {
    const result = await call(door, path.replace('{secret}', secret).replace('{home}', at.test.home));
    const made = /^(\.\.\\key|．．|\.\.%2f|\u202e|~root)/.test(path); // a file of that very name, inside
    if (!made || !door.startsWith('write')) expect(result.isError).toBe(true);
    expect(textOf(result)).not.toMatch(/SECRET(?!_|\w)|is not available|was denied|there is no tool/);
    expect([await readFile(join(secret, 'key'), 'utf8'), await readdir(secret), await readFile(join(at.test.home, 'key'), 'utf8')]).toEqual(
      ['SECRET', ['key'], 'SECRET'],
    );
  });
});

const addresses = [
  'http://127.0.0.1:18789/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://[::1]/', 'http://[::ffff:127.0.0.1]/', 'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:a9fe:a9fe]/', 'http://inside.test/', 'http://meta.test/', 'http://v6.test/', 'http://V6.TEST./', 'http://１２７.0.0.1/', 'http://localhost.inside.test@127.0.0.1/', 'file:///etc/passwd', 'gopher://127.0.0.1/',
]; // biome-ignore format: a list to read across
describe.each(through('url').map(([name]) => name))('S12: door %s', (door) => {
  test.each(addresses)('does not lead to %s', async (url) => {
    const result = await call(door, url);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/is this machine|private network|metadata of cloud|only http: and https:|user or password/);
  });
});

test.each(through('process').map(([name]) => name))(
  'S15: what door %s starts knows no secret of ours, and nothing that loads code',
  async (door) => {
    const shown = textOf(await call(door, 'env; cat /proc/self/environ'));
    expect(shown).toContain('PATH=');
    for (const name of secrets) expect(shown).not.toContain(`${name}=`);
  },
);

test('DESIGN 6: nothing of a plugin starts a process, but by the spawn service and those that are told here', async () => {
  /** Each starts a program of the owner's own choice, in answer to the owner. */
  const known = ['cli/', 'secrets/program.ts', 'sandbox/bubblewrap.ts', 'sandbox/docker.ts', 'tools-exec/spawn.ts'];
  const root = join(import.meta.dirname, '../../plugins');
  const files = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ts') && !name.includes('node_modules'));
  const texts = await Promise.all(files.map(async (name) => ({ name, text: await readFile(join(root, name), 'utf8') })));
  const starting = texts
    .filter(({ text }) => /from '(node:)?(child_process|cluster)'|import\('(node:)?child_process'\)/.test(text))
    .map(({ name }) => name);
  expect(starting.filter((name) => !known.some((one) => name.startsWith(one)))).toEqual([]);
});
