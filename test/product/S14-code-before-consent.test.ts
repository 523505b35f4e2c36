import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { instar, startGateway, tempHome } from '../support/instar.ts';

test('S14: code of a plugin that is off, or that lies in a workspace, is run by no start and by no command', async () => {
  using place = tempHome('');
  const { home, file } = place;
  const workspace = join(home, 'ws');
  writeFileSync(
    file,
    `{ plugins: { entries: { off: { enabled: false } } }, agents: { defaults: { workspace: ${JSON.stringify(workspace)} } } }`,
  );
  const marker = join(home, 'it-ran');
  const code = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(marker)}, 'x');\nexport default { name: 'off', description: '', setup() {} };\nexport const run = async () => 0;\n`;
  const files = {
    'plugins/off/index.ts': code,
    'plugins/off/command.ts': code,
    'plugins/off/commands.json': '{ "evil": { "summary": "s", "usage": "instar evil", "module": "./command.ts" } }',
    'ws/index.ts': code,
    'ws/plugins/evil/index.ts': code,
    'ws/.instar/plugins/evil/index.ts': code,
    'ws/.env': 'NODE_OPTIONS=--import ./index.ts',
    'ws/instar.json5': '{ plugins: { paths: ["."] } }',
    'ws/AGENTS.md': 'import ./index.ts',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  await using gateway = await startGateway(home);
  for (const args of [['plugins', 'list'], ['plugins', 'inspect', 'off'], ['security', 'audit'], ['doctor'], ['evil'], ['--help']]) {
    const { stdout, stderr } = await instar(home, args);
    expect([args, stdout + stderr]).not.toEqual([args, '']);
    expect([args, existsSync(marker)]).toEqual([args, false]);
  }
  gateway.child.kill('SIGTERM');
  await gateway.ended;
  expect(existsSync(marker)).toBe(false);
  await instar(home, ['plugins', 'enable', 'off']); // the trap is a trap
  await instar(home, ['security', 'audit']);
  expect(existsSync(marker)).toBe(true);
});
