import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { instar, root, startGateway, tempHome } from '../support/instar.ts';
import { buildPackage } from '../support/package.ts';
import { isWhole } from '../support/series.ts';

interface Installed {
  readonly project: string;
  readonly entry: string;
  /** What is in the tarball. */
  readonly files: readonly string[];
}

const run = promisify(execFile);
let folder: string;
let product: Installed;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'instar-package-'));
  product = await install(await pack(folder), join(folder, 'project'));
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the package holds what runs, its types, the schema and the examples, and no sources', () => {
  const { files } = product;
  const examples = globSync('examples/**/*.*', { cwd: root });
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'bin.js', 'schemas/config.schema.json', ...examples]));
  expect(files).toEqual(expect.arrayContaining(['dist/kernel/index.d.ts', 'dist/plugins/agents/contract.d.ts']));
  expect(files.filter((file) => !/^(LICENSE|README\.md|bin\.js|package\.json)$|^(dist|examples|schemas)\//.test(file))).toEqual([]);
  expect(files.filter((file) => /(?<!\.d)\.ts$|\.d\.js$/.test(file) && !file.startsWith('examples/'))).toEqual([]);
});

test('installed from its tarball, it tells its version and answers without a gateway', async () => {
  using place = tempHome();
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(await instar(place.home, ['--version'], {}, product.entry)).toMatchObject({ code: 0, stdout: `${version}\n` });
  const listed = await instar(place.home, ['agent', '--message', 'list the files'], {}, product.entry);
  expect(listed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('README.md') });
});

test("its gateway serves the page, and runs a user's plugin that imports instar and a contract", async () => {
  using place = tempHome();
  await mkdir(join(place.home, 'plugins/greeter'), { recursive: true });
  await writeFile(join(place.home, 'plugins/greeter/index.ts'), greeter);
  await using gateway = await startGateway(place.home, [], {}, product.entry);
  expect(gateway.out).toMatchObject({ stdout: expect.stringMatching(/^ {2}greeter +hello main$/m), stderr: '' });
  const page = await fetch(gateway.url);
  const html = await page.text();
  const assets = ['/page/main.js', '/page/style.css', ...html.matchAll(/(?<=(?:src|href)=")\/[\w/.-]+/g).map(([path]) => path)];
  expect([page.status, html]).toEqual([200, expect.stringContaining('Instar')]);
  for (const path of assets) expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, 200]);
  const listed = await instar(place.home, ['agent', '--message', 'list the files'], {}, product.entry);
  expect(listed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('README.md') });
});

test('a plugin is checked against the types of the package', async () => {
  const options = ['--module', 'nodenext', '--strict', '--noEmit', '--skipLibCheck'];
  await writeFile(join(product.project, 'greeter.mts'), greeter);
  const tsc = run(join(root, 'node_modules/.bin/tsc'), [...options, 'greeter.mts'], { cwd: product.project });
  const { stdout } = await tsc.catch((error: { readonly stdout: string }) => error);
  expect(stdout).toBe('');
});

test('what needs pi-ai, which is not installed with it, says how to install the right version', async () => {
  const model = { baseUrl: 'http://127.0.0.1:9', apiKey: 'x', api: 'anthropic-messages', models: [{ id: 'm', name: 'm' }] };
  using place = tempHome({ models: { providers: { claude: model } }, agents: { defaults: { model: 'claude/m' } } });
  const { code, stdout, stderr } = await instar(place.home, ['agent', '--message', 'hi'], {}, product.entry);
  const { dependencies } = JSON.parse(readFileSync(join(root, 'plugins/models-pi/package.json'), 'utf8')) as Manifest;
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('instar: ADAPTER_MISSING: ');
  expect(stderr).toContain(`npm install @earendil-works/pi-ai@${dependencies['@earendil-works/pi-ai']}`);
});

test('a plugin that it writes is checked by tsc, passes its own tests, and is live', async () => {
  using place = tempHome();
  const mine = join(place.home, 'plugins/mine');
  expect(await instar(place.home, ['plugins', 'new', 'mine'], {}, product.entry)).toMatchObject({ code: 0, stderr: '' });
  await mkdir(join(mine, 'node_modules'));
  await symlink(join(root, 'node_modules/@types'), join(mine, 'node_modules/@types')); // as its `npm install` does
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', mine]).catch((error: { readonly stdout: string }) => error);
  expect(stdout).toBe('');
  const tested = await instar(place.home, ['plugins', 'test', 'mine'], {}, product.entry);
  expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 3/) });
  const answered = await instar(place.home, ['chat', 'use mine'], {}, product.entry);
  expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('hello you') });
});

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

const greeter = `
import { definePlugin, StartReport, type ReportLine } from 'instar';
import { Agents } from 'instar/contracts/agents';

export default definePlugin({
  name: 'greeter',
  description: 'greets the default agent in the start block',
  needs: { agents: Agents },
  config: { schema: { type: 'object', properties: { word: { type: 'string', default: 'hello' } }, additionalProperties: false } },
  setup(ctx) {
    const line: ReportLine = { label: 'greeter', value: \`\${ctx.config.word} \${ctx.needs.agents.defaultId}\` };
    // @ts-expect-error -- the schema knows no such key
    void ctx.config.wrod;
    ctx.tap(StartReport, (lines) => [...lines, line]);
  },
});
`;

async function pack(to: string) {
  const source = dirname(process.env['INSTAR_TEST_BIN'] ?? (await buildPackage(join(to, 'source'))));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', to], { cwd: source });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { tarball: join(to, filename), files: files.map(({ path }) => path) };
}

/** By npm where all is wanted (`npm run test:all`); else unpacked, beside links to what it says that it depends on. */
async function install({ tarball, files }: Awaited<ReturnType<typeof pack>>, project: string): Promise<Installed> {
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true }');
  if (isWhole) await run('npm', ['install', tarball, '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: project });
  else await unpack(tarball, join(project, 'node_modules'));
  return { project, entry: join(project, isWhole ? 'node_modules/.bin/instar' : 'node_modules/instar/bin.js'), files };
}

async function unpack(tarball: string, modules: string) {
  await mkdir(join(modules, 'instar'), { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', join(modules, 'instar'), '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'instar/package.json'), 'utf8')) as Manifest;
  for (const name of Object.keys(dependencies)) {
    await mkdir(join(modules, dirname(name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
}
