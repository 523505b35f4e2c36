import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import mcp from '../../../plugins/mcp/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import { allowAll } from '../../support/toolbench.ts';
import { isUp, mcpBench, offered } from './bench.ts';
import { said } from './said.ts';

const modules = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol');
const program = (name: string, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [join(modules, name, 'dist/index.js'), ...args],
});

test('SPEC 2.3: the reference server "everything" works over stdio: text, images, resources, progress', { timeout: 60_000 }, async () => {
  await using bench = await mcpBench({ all: { ...program('server-everything', 'stdio'), allow: ['*'] } });
  await isUp(bench, 'all');
  expect(await offered(bench)).toContain('mcp__all__echo');
  expect(said(await bench.call('mcp__all__echo', { message: 'hi' }))).toBe('Echo: hi');
  expect(said(await bench.call('mcp__all__get-sum', { a: 2, b: 3 }))).toContain('5');
  const image = await bench.call('mcp__all__get-tiny-image', {});
  expect(image.content).toContainEqual({ type: 'image', mimeType: 'image/png', data: expect.any(String) });
  expect(said(await bench.call('mcp__all__get-resource-links', { count: 2 }))).toMatch(/\[.*: \S+:\/\/\S+/);
  const seen: string[] = [];
  await bench.call(
    'mcp__all__trigger-long-running-operation',
    { duration: 1, steps: 2 },
    { onUpdate: (partial) => seen.push(said(partial)) },
  );
  expect(seen.at(0)).toMatch(/\(1 of 2\)/);
  const wrong = await bench.call('mcp__all__get-sum', { a: 'x' });
  expect([wrong.isError, said(wrong)]).toEqual([true, expect.stringContaining('wrong arguments for mcp__all__get-sum')]);
});

test('SPEC 2.3: the reference server "filesystem" reads where it may, and refuses elsewhere', { timeout: 60_000 }, async () => {
  await using bench = await mcpBench({});
  const folder = join(bench.test.home, 'shared');
  await mkdir(folder);
  await writeFile(join(folder, 'a.txt'), 'words of a file');
  await bench.test.apply([toolsExec, mcp, allowAll], {
    mcp: { servers: { files: { ...program('server-filesystem', folder), allow: ['read_*'] } } },
  });
  await isUp(bench, 'files');
  expect(said(await bench.call('mcp__files__read_text_file', { path: join(folder, 'a.txt') }))).toContain('words of a file');
  const refused = await bench.call('mcp__files__read_text_file', { path: '/etc/hostname' });
  expect([refused.isError, said(refused)]).toEqual([true, expect.stringContaining('Access denied')]);
});
