import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { KernelError, messageOf } from '../../../kernel/index.ts';
import { type RunCommand } from '../../cli/contract.ts';
import type { SessionRecord } from '../../sessions/contract.ts';
import { oneKey } from './one-key.ts';

/** `instar sessions export KEY`: the transcript as it is, one JSON record per line. With `--json`, what it is and where. */
export const run: RunCommand = async (argv, host) => {
  const options = { json: { type: 'boolean' }, out: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const sessionKey = oneKey('export', positionals);
  const found = await host.ask<{ readonly session: SessionRecord; readonly file: string; readonly bytes: number }>('sessions.file', {
    sessionKey,
  });
  if (found.bytes === 0) {
    throw new KernelError('SESSION_EMPTY', `nothing was said in "${found.session.key}" yet; what was before a reset is in the same folder`);
  }
  if (values.out === undefined && values.json) {
    console.log(JSON.stringify(found));
    return 0;
  }
  // Up to the size told: what a running turn appends meanwhile may be half a line.
  const from = createReadStream(found.file, { end: found.bytes - 1 });
  if (values.out === undefined) await pipeline(from, process.stdout, { end: false });
  else await pipeline(from, createWriteStream(values.out, { flags: 'wx', mode: 0o600 })).catch(unwritable(values.out));
  if (values.out !== undefined)
    console.log(values.json ? JSON.stringify({ ...found, out: values.out }) : `${values.out}: ${found.bytes} bytes`);
  return 0;
};

const unwritable = (out: string) => (cause: NodeJS.ErrnoException) => {
  const why = cause.code === 'EEXIST' ? 'it is there already' : messageOf(cause);
  throw new KernelError('EXPORT_UNWRITABLE', `${out}: ${why}; name another file with --out`, { cause });
};
