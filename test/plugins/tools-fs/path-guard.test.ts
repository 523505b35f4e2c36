import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Fence, openSpot, openUnder } from '../../../plugins/tools-fs/path-guard.ts';
import { stageWrite } from '../../../plugins/tools-fs/staged-file.ts';
import { allowAll, toolbench } from '../../support/toolbench.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';

/** `ws` is the root; `secret/key` lies beside it and must never be seen or changed. */
async function world() {
  const top = await realpath(await mkdtemp(join(tmpdir(), 'instar-guard-')));
  const root = join(top, 'ws');
  const secret = join(top, 'secret');
  await mkdir(join(root, 'sub'), { recursive: true });
  await mkdir(secret);
  await writeFile(join(secret, 'key'), 'SECRET');
  await writeFile(join(root, 'a.txt'), 'inside');
  await symlink(join(secret, 'key'), join(root, 'link-to-key'));
  await symlink(secret, join(root, 'link-to-folder'));
  await symlink('sub', join(root, 'link-inside'));
  await symlink(join(secret, 'not-yet'), join(root, 'dangling'));
  await symlink('loop', join(root, 'loop'));
  const fence: Fence = { root, closed: ['/proc', '/sys', '/dev'], fixed: [] };
  return { top, root, secret, fence, [Symbol.asyncDispose]: () => rm(top, { recursive: true, force: true }) };
}

const escapes: readonly (readonly [path: string, code: string])[] = [
  ['../secret/key', 'PATH_OUTSIDE'],
  ['sub/../../secret/key', 'PATH_OUTSIDE'],
  ['{top}/secret/key', 'PATH_OUTSIDE'],
  ['{top}/ws-beside', 'PATH_OUTSIDE'],
  ['/etc/passwd', 'PATH_OUTSIDE'],
  ['/', 'PATH_OUTSIDE'],
  ['~/.ssh/id_rsa', 'PATH_OUTSIDE'],
  ['link-to-key', 'PATH_OUTSIDE'],
  ['link-to-folder/key', 'PATH_OUTSIDE'],
  ['link-to-folder/new/deep', 'PATH_OUTSIDE'],
  ['link-inside/../../secret/key', 'PATH_OUTSIDE'],
  ['/proc/self/root/etc/passwd', 'PATH_OUTSIDE'],
  ['/proc/self/environ', 'PATH_OUTSIDE'],
  ['/proc/self/cwd/package.json', 'PATH_OUTSIDE'],
  ['/dev/stdin', 'PATH_OUTSIDE'],
  ['a.txt\0.png', 'PATH_OUTSIDE'],
  ['dangling', 'PATH_MISSING'],
  ['dangling/x', 'PATH_MISSING'],
  ['loop', 'PATH_UNUSABLE'],
  ['a.txt/b', 'PATH_MISSING'],
  ['x'.repeat(300), 'PATH_UNUSABLE'],
];

test.each(escapes)('S13: reading %s is refused with %s', async (path, code) => {
  await using at = await world();
  await expect(openUnder(at.fence, path.replace('{top}', at.top))).rejects.toMatchObject({ code });
});

test.each(escapes)('S13: writing %s is refused and changes nothing outside', async (path) => {
  await using at = await world();
  const write = stageWrite(at.fence, path.replace('{top}', at.top), 'evil', 'anything');
  await expect(write).rejects.toHaveProperty('code');
  expect(await readFile(join(at.secret, 'key'), 'utf8')).toBe('SECRET');
  expect(await readdir(at.secret)).toEqual(['key']);
});

test('links and absolute paths that stay inside are followed', async () => {
  await using at = await world();
  await writeFile(join(at.root, 'sub', 'b.txt'), 'b');
  for (const path of ['link-inside/b.txt', join(at.root, 'sub/b.txt'), 'sub/../sub/b.txt']) {
    await using opened = await openUnder(at.fence, path);
    expect(opened).toMatchObject({ kind: 'file', name: join('sub', 'b.txt') });
  }
});

test('a root that is itself reached through a link is one place under both its names', async () => {
  await using at = await world();
  await symlink(at.root, join(at.top, 'alias'));
  const fence = { ...at.fence, root: join(at.top, 'alias') };
  await using opened = await openUnder(fence, join(at.top, 'alias', 'a.txt'));
  expect(opened.name).toBe('a.txt');
});

test('S2: a folder that is swapped for a link after the check leads a write nowhere else', async () => {
  await using at = await world();
  await using spot = await openSpot(at.fence, 'sub/new.txt', { make: true });
  await rename(join(at.root, 'sub'), join(at.root, 'moved'));
  await symlink(at.secret, join(at.root, 'sub'));
  await writeFile(spot.at(spot.entry), 'written');
  expect(existsSync(join(at.secret, 'new.txt'))).toBe(false);
  expect(await readFile(join(at.root, 'moved', 'new.txt'), 'utf8')).toBe('written');
});

test.each(['read', 'write'])('S2: a folder that is swapped for a link between check and open is found out by a %s', async (what) => {
  await using at = await world();
  await mkdir(join(at.root, 'sub', 'deep'));
  await writeFile(join(at.root, 'sub', 'deep', 'key'), 'inside');
  await mkdir(join(at.secret, 'deep'));
  await writeFile(join(at.secret, 'deep', 'key'), 'SECRET');
  let swapped = false;
  // Asked for while the path is judged: what happens in there happens before the path is opened.
  const fence: Fence = {
    root: at.root,
    fixed: [],
    get closed() {
      if (!swapped) renameSync(join(at.root, 'sub'), join(at.root, 'moved'));
      if (!swapped) symlinkSync(at.secret, join(at.root, 'sub'));
      swapped = true;
      return [];
    },
  };
  const use = what === 'read' ? openUnder(fence, 'sub/deep/key') : stageWrite(fence, 'sub/deep/key', 'evil', 'anything');
  await expect(use).rejects.toMatchObject({ code: 'PATH_OUTSIDE' });
  expect(swapped).toBe(true);
  expect(await readdir(join(at.secret, 'deep'))).toEqual(['key']);
});

test('S2: paths that are swapped for links all the time are never read or written through', async () => {
  await using at = await world();
  const [real, aside] = [join(at.root, 'sub'), join(at.root, 'aside')];
  await writeFile(join(real, 'key'), 'inside');
  const stop = new AbortController();
  // A write may make the folder anew at any moment, also while it is cleared: each step may fail, and is then done again.
  const clear = () => rm(real, { recursive: true, force: true, maxRetries: 50, retryDelay: 1 });
  const isBack = () =>
    rename(aside, real).then(
      () => true,
      () => false,
    );
  const swap = (async () => {
    while (!stop.signal.aborted) {
      await rename(real, aside);
      await symlink(at.secret, real).catch(clear);
      do await clear();
      while (!(await isBack()));
    }
  })();
  try {
    for (let i = 0; i < 300; i++) {
      expect(await readOnce(at.fence, 'sub/key')).not.toBe('SECRET');
      await writeOnce(at.fence, 'sub/key', 'inside');
    }
  } finally {
    stop.abort();
    await swap;
  }
  expect(await readFile(join(at.secret, 'key'), 'utf8')).toBe('SECRET');
});

async function readOnce(fence: Fence, path: string) {
  try {
    await using opened = await openUnder(fence, path);
    return await opened.handle.readFile('utf8');
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function writeOnce(fence: Fence, path: string, content: string) {
  try {
    await using staged = await stageWrite(fence, path, content, 'anything');
    await staged.commit();
  } catch (error) {
    expect(error).toHaveProperty('code');
  }
}

test('what is closed stays closed in a workspace that is wide enough to hold it', async () => {
  await using at = await world();
  const fence = { root: at.top, closed: [at.secret], fixed: [] };
  await expect(openUnder(fence, 'secret/key')).rejects.toMatchObject({ code: 'PATH_CLOSED' });
  await expect(stageWrite(fence, 'secret/new', '', 'anything')).rejects.toMatchObject({ code: 'PATH_CLOSED' });
  // A workspace in the state folder is open, the state folder as one is not.
  await mkdir(join(at.secret, 'workspace'));
  await using own = await openUnder({ ...fence, root: join(at.secret, 'workspace') }, '.');
  expect(own.name).toBe('.');
  await expect(openUnder({ ...fence, root: at.secret }, 'key')).rejects.toMatchObject({ code: 'PATH_CLOSED' });
});

test('a pipe in the workspace is refused and does not hang', async () => {
  await using at = await world();
  execFileSync('mkfifo', [join(at.root, 'pipe')]);
  await expect(openUnder(at.fence, 'pipe')).rejects.toMatchObject({ code: 'PATH_SPECIAL' });
});

test('SPEC 2.1: every file tool passes the guard', async () => {
  await using bench = await toolbench([toolsFs, allowAll]);
  const path = '../instar-escape.txt';
  const calls: Record<string, unknown> = {
    read: { path },
    write: { path, content: 'x' },
    edit: { path, oldText: 'a', newText: 'b' },
    apply_patch: { input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` },
  };
  const { tools } = await bench.test.kernel.run((run) => run.tools());
  expect(tools.map((tool) => tool.name).toSorted()).toEqual(Object.keys(calls).toSorted());
  for (const { name } of tools) {
    const result = await bench.call(name, calls[name]);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('outside the workspace') }] });
  }
});
