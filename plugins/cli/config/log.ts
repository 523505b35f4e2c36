import { basename } from 'node:path';
import type { RunCommand } from '../contract.ts';
import { dim, plain } from '../contract/terminal.ts';
import { readArguments } from './arguments.ts';
import { difference } from './difference.ts';
import { digestOf, type Entry } from './history.ts';
import { openConfig } from './opened.ts';
import { openHistory } from './history.ts';

/** `instar config history`: newest first. */
export const run: RunCommand = async (argv, host) => {
  const { values } = readArguments(argv, ['json']);
  const entries = historyOf(host).toReversed();
  if (values.json) console.log(JSON.stringify(await Promise.all(entries.map(asData))));
  else if (entries.length === 0) console.log('nothing was changed yet');
  else console.log(`${table(entries)}\n${dim('instar config diff N shows one, instar config undo N takes it back')}`);
  return 0;
};

/** A config that does not parse now has a history all the same. */
function historyOf(host: Parameters<RunCommand>[1]): readonly Entry[] {
  try {
    return openConfig(host).history.entries();
  } catch {
    return openHistory(host.home).entries();
  }
}

async function asData({ before, after, ...entry }: Entry) {
  const diff = await difference(entry.file, before ?? '', after ?? '');
  return { ...entry, hash: digestOf(after), before: digestOf(before), diff };
}

function table(entries: readonly Entry[]): string {
  const rows = entries.map(({ id, time, who, what, file, after }) => [
    String(id),
    time.replace('T', ' ').slice(0, 19),
    plain(who || '-'),
    plain(what),
    digestOf(after),
    basename(file),
  ]);
  const widths = rows[0]?.map((_, i) => Math.min(48, Math.max(...rows.map((row) => row[i]?.length ?? 0)))) ?? [];
  return rows
    .map((row) => `  ${row.map((cell, i) => (i === 0 ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('  ')}`.trimEnd())
    .join('\n');
}
