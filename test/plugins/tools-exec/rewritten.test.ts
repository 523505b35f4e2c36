import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Approver, definePlugin } from '../../../kernel/index.ts';
import toolsExec from '../../../plugins/tools-exec/index.ts';
import toolsFs from '../../../plugins/tools-fs/index.ts';
import { allowAll, textOf, toolbench } from '../../support/toolbench.ts';
import { machine, named, program } from './machine.ts';

const good = '#!/bin/sh\necho good\n';
const evil = '#!/bin/sh\ntouch ran\necho evil\n';
const hash = createHash('sha256').update(good).digest('hex');

const yes = (asked: string[]) =>
  definePlugin({
    name: 'yes',
    description: 'test',
    provides: [Approver],
    setup: (ctx) => ctx.provide(Approver, { ask: async (_request, why) => ({ allowed: asked.push(why) > 0, why: 'yes' }) }),
  });

/** A workspace with a listed script `s.sh`, a text `evil`, and whoever is asked. */
async function bench({ isAsked = false, listed = [] as readonly (string | object)[] } = {}) {
  const asked: string[] = [];
  const plugins = [toolsFs, toolsExec, allowAll, ...(isAsked ? [yes(asked)] : [])];
  // The folder is only known once it is booted: the entry goes by any of that name, and its content.
  const entries = [{ pattern: '/**/s.sh', sha256: hash }, ...listed];
  const at = await toolbench(plugins, { tools: { exec: { ask: isAsked ? 'on-miss' : 'off', allowlist: entries } } });
  await mkdir(at.workspace, { recursive: true });
  await program(join(at.workspace, 's.sh'), good);
  await writeFile(join(at.workspace, 'evil'), evil);
  const ran = () => existsSync(join(at.workspace, 'ran'));
  return { ...at, asked, ran, exec: async (command: string) => textOf(await at.call('exec', { command })) };
}

/** What the lists allow by itself, and how the line changes a listed script before or while it runs. */
const lines: readonly (readonly [command: string, listed: readonly (string | object)[], says: RegExp])[] = [
  ['head -c 1000 <evil >s.sh && ./s.sh', [], /"s\.sh" may be changed by "head -c 1000 <evil >s\.sh"/],
  ['head -c 1000 <evil >s.sh; ./s.sh', [], /may be changed by/],
  ['head -c 1000 <evil >>s.sh || ./s.sh; ./s.sh', [], /may be changed by/],
  ['head -c 1000 <evil >hard; ./s.sh', [], /may be changed by/],
  ['head -c 1000 <evil >hard | ./s.sh', [], /may be changed by/],
  ['./s.sh >s.sh', [], /"s\.sh" may be changed by "\.\/s\.sh >s\.sh"/],
  ['cp evil s.sh && ./s.sh', [{ pattern: 'cp', args: ['evil', 's.sh'] }], /may be changed by "cp evil s\.sh"/],
  ['cp evil . && timeout 5 ./s.sh', [{ pattern: 'cp', args: ['evil', '.'] }], /may be changed by/],
  ['dd if=evil of=s.sh && ./s.sh', [{ pattern: 'dd', argPattern: '.*' }], /may be changed by/],
  ['sort -os.sh evil && ./s.sh', [{ pattern: 'sort', argPattern: '.*' }], /may be changed by/],
  ['head -c 1000 <evil | tee s.sh | ./s.sh', [{ pattern: 'tee', args: ['s.sh'] }], /may be changed by "tee s\.sh"/],
  // Where it writes is not to be seen, and in a pipe it would write while the other starts.
  ['tar xf a.tar | ./s.sh', [{ pattern: 'tar', argPattern: '.*' }], /may be changed by "tar xf a\.tar"/],
];
test.each(lines)('S1, S2: %j does not pass as listed: a part of it may change what another part runs', async (command, listed, says) => {
  await using at = await bench({ listed });
  await link(join(at.workspace, 's.sh'), join(at.workspace, 'hard'));
  const said = await at.exec(command);
  expect(said).toContain('exec was denied');
  expect(said).toMatch(says);
  expect(at.ran()).toBe(false);
});

test('what a line cannot change passes as before', async () => {
  await using at = await bench({ listed: ['echo'] });
  expect(await at.exec('./s.sh >out && ./s.sh | head -n 1; echo ./s.sh >other')).toBe('good\n[exit code 0]');
});

/** A listed script of the workspace, of which nothing but its content says what it does. */
const listedScript = (text: string) => ({ pattern: '/**/unknown', sha256: createHash('sha256').update(text).digest('hex') });

test('S2: a step whose program an earlier one changed, unseen until then, is not started', async () => {
  const unknown = '#!/bin/sh\ncat evil > s.sh\n';
  await using at = await bench({ listed: [listedScript(unknown)] });
  await program(join(at.workspace, 'unknown'), unknown);
  expect(await at.exec('./unknown && ./s.sh')).toMatch(
    /s\.sh was changed after the command was judged; neither it nor what follows was run/,
  );
  expect(at.ran()).toBe(false);
});

test('S2: in the background too, and who polls is told why it ended', async () => {
  const unknown = '#!/bin/sh\ncat evil > s.sh\n';
  await using at = await bench({ listed: [listedScript(unknown)] });
  await program(join(at.workspace, 'unknown'), unknown);
  await at.call('exec', { command: './unknown && ./s.sh', background: true });
  const poll = textOf(await at.call('process', { action: 'poll', sessionId: 'p1', timeoutMs: 5000 }));
  expect(poll).toMatch(/^\[not run further: .*s\.sh was changed after the command was judged.*\]\n\[p1: killed\]$/);
  expect(at.ran()).toBe(false);
});

test('S2: a redirection does not write to a program while it runs, by whichever name that a step before it made', async () => {
  const unknown = '#!/bin/sh\nln s.sh hard\n';
  await using at = await bench({ listed: [listedScript(unknown), 'head'] });
  await program(join(at.workspace, 'unknown'), unknown);
  expect(await at.exec('./unknown; head -c 1000 <evil >>hard | ./s.sh')).toMatch(/s\.sh would be written to while it runs/);
  expect(at.ran()).toBe(false);
});

/** Runs `cat fifo; ./NAME` and rewrites the program once `cat` waits, as a command in the background could. */
async function swappedMeanwhile(at: Awaited<ReturnType<typeof bench>>, name: string): Promise<string> {
  const fifo = join(at.workspace, 'fifo');
  await promisify(execFile)('mkfifo', [fifo]);
  const call = at.exec(`cat fifo; ./${name}`);
  const writer = await open(fifo, 'w'); // settles once it is read
  await writeFile(join(at.workspace, name), evil);
  await writer.close();
  return call;
}

test('S2: what somebody else changes between two steps is noticed, in a line that lists allow', async () => {
  await using at = await bench({ listed: ['cat'] });
  expect(await swappedMeanwhile(at, 's.sh')).toMatch(/s\.sh was changed after the command was judged/);
  expect(at.ran()).toBe(false);
});

test('S2: what somebody else changes between two steps is noticed, in a line that a person allowed', async () => {
  await using at = await bench({ isAsked: true });
  await program(join(at.workspace, 'own'), good);
  expect(await swappedMeanwhile(at, 'own')).toMatch(/own was changed after the command was judged/);
  expect(at.ran()).toBe(false);
});

const approved: readonly (readonly [command: string, out: string])[] = [
  ['head -c 1000 <evil >s.sh && ./s.sh', 'evil\n[exit code 0]'],
  ['cp evil s.sh && ./s.sh', 'evil\n[exit code 0]'],
  ['cp evil own && ./own', 'evil\n[exit code 0]'],
  ['./make && ./own', 'evil\n[exit code 0]'],
  ['echo "echo from-a" >a && sh a', 'from-a\n[exit code 0]'],
];
test.each(approved)('what a person allowed as a whole runs as a whole: %j', async (command, out) => {
  await using at = await bench({ isAsked: true });
  await program(join(at.workspace, 'own'), good);
  await program(join(at.workspace, 'make'), '#!/bin/sh\ncat evil >own\n');
  await writeFile(join(at.workspace, 'a'), '');
  expect(await at.exec(command)).toBe(out);
  expect(at.asked).toEqual([command]);
});

test('"always" is not offered for a program that the line itself changes', async () => {
  await using box = await machine(['cp', 'tool']);
  await program(join(box.workspace, 'own'));
  expect((await box.test('cp x own && ./own')).grants).toBeUndefined();
  expect((await box.test('tool x && ./own', named('tool'))).grants).toMatchObject([{ executable: join(box.workspace, 'own') }]);
});
