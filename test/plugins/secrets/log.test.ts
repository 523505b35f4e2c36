import { channel } from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLog } from '../../../plugins/cli/log-file.ts';
import { secretChannel } from '../../../plugins/secrets/contract.ts';

test('SPEC 4.7: what was resolved once is hidden in the log and on the terminal, whoever writes it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'instar-log-'));
  const lines: string[] = [];
  const log = openLog(folder, { show: (line) => lines.push(line) });
  try {
    channel(secretChannel).publish('resolved-"secret"');
    log.sink({ level: 'error', message: 'it answered resolved-"secret"', error: new Error('bad key resolved-"secret"') });
    log.flush();
    const text = readFileSync(join(folder, 'instar.log'), 'utf8');
    expect(text).toMatch(/it answered \[hidden\].*bad key \[hidden\]/);
    expect(text + lines.join()).not.toContain('resolved-');
  } finally {
    log.close();
    rmSync(folder, { recursive: true });
  }
});
