import { expect, test } from 'vitest';
import { discover } from '../../kernel/host/discovery.ts';
import { folder } from './folder.ts';

const code = { 'index.ts': 'export default {}' };
const under = (path: string, files: Readonly<Record<string, string>> = code) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${path}/${name}`, text]));

test('plugins are found where they lie: bundled, in the state folder, in plugins.paths, as packages', async () => {
  await using home = await folder({
    ...under('plugins/at-home'),
    ...under('conf/one'),
    ...under('conf/many/two', { 'index.js': '' }),
    ...under('conf/many/no-plugin', { 'readme.md': '' }),
    ...under('conf/node_modules/@me/instar-plugin-three', { 'package.json': '{"exports":"./main.js"}', 'main.js': '' }),
  });
  const plugins = { paths: ['one', './many'], packages: ['@me/instar-plugin-three'], entries: { two: { enabled: false } } };
  const { found, problems, roots } = discover({ plugins }, home.path, home.at('conf'));
  expect(problems).toEqual([]);
  const user = found
    .filter(({ bundled }) => !bundled)
    .map(({ name, entry, enabled }) => [name, entry.slice(home.path.length + 1), enabled]);
  expect(user).toEqual([
    ['at-home', 'plugins/at-home/index.ts', true],
    ['one', 'conf/one/index.ts', true],
    ['two', 'conf/many/two/index.js', false],
    ['three', 'conf/node_modules/@me/instar-plugin-three/main.js', true],
  ]);
  expect(found.find(({ name }) => name === 'gateway')).toMatchObject({ bundled: true, enabled: true });
  expect(roots).toEqual([home.at('plugins'), home.at('conf/one'), home.at('conf/many')]);
});

test.each([
  [
    'a misspelt name',
    { entries: { gatway: { enabled: false } } },
    { path: 'plugins.entries.gatway', message: 'there is no plugin "gatway"', nearest: 'gateway' },
  ],
  [
    'a path without a plugin',
    { paths: ['nowhere'] },
    { path: 'plugins.paths[0]', message: expect.stringContaining('no folder with index.ts or index.js is at') },
  ],
  [
    'a package that is not installed',
    { packages: ['no-such-plugin'] },
    { path: 'plugins.packages[0]', message: expect.stringContaining('run "npm install no-such-plugin" in') },
  ],
  [
    'a bundled name',
    { paths: ['conf/gateway'] },
    { path: 'plugins.paths[0]', message: expect.stringMatching(/^plugin "gateway" is in .*plugins.gateway.* and in .*conf.gateway/) },
  ],
  ['an odd name', { paths: ['conf/My Plugin'] }, { path: 'plugins.paths[0]', message: expect.stringContaining('"My Plugin"') }],
  ['an unknown key', { path: ['x'] }, { path: 'plugins.path', message: 'unknown key "path"', nearest: 'paths' }],
  [
    'a wrong type',
    { entries: { web: { enabled: 'no' } } },
    { path: 'plugins.entries.web.enabled', message: expect.stringContaining('must be boolean') },
  ],
])('%s is a problem with its config path', async (_, plugins, problem) => {
  await using home = await folder({ ...under('conf/gateway'), ...under('conf/My Plugin') });
  expect(discover({ plugins }, home.at('home'), home.path).problems).toEqual([expect.objectContaining(problem)]);
});
