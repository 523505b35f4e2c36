import { spawn } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crashMind, scene, textsOf } from './scene.ts';

const child = join(import.meta.dirname, 'crash-child.ts');

test.each(['before', 'within', 'after'])(
  'SIGKILL %s the write of the record: nothing is lost, nothing is doubled',
  { timeout: 60_000 },
  async (when) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'instar-compaction-'));
    const home = folder.path;
    await (async () => {
      await using first = await scene(crashMind, { home });
      await first.past(20, 2_000);
    })();
    const worker = spawn(process.execPath, [child, home, when], { stdio: ['ignore', 'inherit', 'inherit'] });
    expect(await new Promise((resolve) => worker.once('close', (_, signal) => resolve(signal)))).toBe('SIGKILL');

    await using next = await scene(crashMind, { home });
    await expect.poll(() => next.channel.answers.length, { timeout: 20_000 }).toBe(1);
    const { transcript, history } = await next.session();
    expect(transcript.entries).toHaveLength(42);
    expect(transcript.entries.filter(({ message }) => textsOf([message]) === '"and now?"')).toHaveLength(1);
    expect(await next.compactions()).toHaveLength(1);
    expect(textsOf(history)).toMatch(/SUM[^]*and now\?[^]*fine/);
  },
);
