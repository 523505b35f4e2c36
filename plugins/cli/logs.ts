import { closeSync, existsSync, openSync, readFileSync, readSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { misused, type RunCommand } from './contract.ts';
import { bold, dim, oneLine, plain } from './contract/terminal.ts';

/** `instar logs`: the last lines, and with `--follow` those to come. Reads files: no gateway need run. */
export const run: RunCommand = async (argv, { home }) => {
  const options = { lines: { type: 'string', short: 'n' }, follow: { type: 'boolean', short: 'f' }, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const count = Number(values.lines ?? 50);
  if (!Number.isInteger(count) || count < 0) throw misused('-n takes a number of lines');
  const folder = join(home, 'logs');
  const file = join(folder, 'instar.log');
  const print = (line: string) => console.log(values.json ? line : readable(line));
  const older = [4, 3, 2, 1].map((n) => join(folder, `instar.${n}.log`));
  for (const line of lastLines([...older, file], count)) print(line);
  if (!existsSync(folder)) console.error(`instar: there is no log yet in ${folder}`);
  else if (values.follow) await follow(folder, file, print);
  return 0;
};

function lastLines(files: readonly string[], count: number): string[] {
  let lines: string[] = [];
  for (const file of files.toReversed()) {
    if (lines.length >= count || !existsSync(file)) continue;
    lines = [...readFileSync(file, 'utf8').split('\n').filter(Boolean), ...lines];
  }
  return count ? lines.slice(-count) : [];
}

/** Until Ctrl-C. A file that shrank was rotated: begin at its start. */
function follow(folder: string, file: string, print: (line: string) => void): Promise<void> {
  let at = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let rest = '';
  const more = () => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < at) [at, rest] = [0, ''];
    const lines = (rest + readFrom(file, at, size - at)).split('\n');
    rest = lines.pop() ?? '';
    at = size;
    for (const line of lines.filter(Boolean)) print(line);
  };
  const watcher = watch(folder, more);
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGINT', () => {
    watcher.close();
    resolve();
  });
  return promise;
}

function readFrom(file: string, at: number, length: number): string {
  if (length <= 0) return '';
  const bytes = Buffer.alloc(length);
  const fd = openSync(file, 'r');
  try {
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, length, at));
  } finally {
    closeSync(fd);
  }
}

/** In short: the whole of a record is in the file, and in `--json`. A line that is no JSON of ours is shown as it is. */
function readable(line: string): string {
  try {
    const { time, level, plugin, message, error, ...facts } = JSON.parse(line) as LogLine;
    const more = Object.entries({ code: error?.code, ...facts }).filter(([, value]) => value !== undefined);
    const loud = level === 'error' || level === 'warn';
    const head = `${dim(plain(String(time)))} ${loud ? bold(level) : plain(String(level))}`;
    const tail = more.map(([name, value]) => `${name}=${shown(value)}`).join(' ');
    return `${head} ${plugin ? `[${plain(plugin)}] ` : ''}${oneLine(String(message), 400)} ${dim(oneLine(tail, 200))}`.trimEnd();
  } catch {
    return plain(line);
  }
}

const shown = (value: unknown) => JSON.stringify(typeof value === 'number' ? Math.round(value * 10) / 10 : value);

interface LogLine {
  readonly time?: string;
  readonly level?: string;
  readonly plugin?: string;
  readonly message?: string;
  readonly error?: { readonly code?: string };
}
