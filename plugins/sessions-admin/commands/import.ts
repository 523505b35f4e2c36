import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bold, dim, exitCodes, misused, oneLine, plain, type RunCommand } from '../../cli/contract.ts';
import type { ImportedSession, ImportReport, Outcome } from '../contract.ts';

const options = {
  json: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  replace: { type: 'boolean' },
  all: { type: 'boolean' },
  agent: { type: 'string' },
} as const;

/** `instar sessions import DIR`: exits with 1 where a session was not taken that should be. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const dir = oneFolder(positionals);
  const { 'dry-run': dryRun = false, replace = false, all = false, agent, json } = values;
  const report = await host.ask<ImportReport>('sessions.import', { dir, dryRun, replace, all, ...(agent && { agentId: agent }) });
  console.log(json ? JSON.stringify(report) : textOf(report));
  return report.sessions.some(({ outcome }) => outcome === 'failed' || outcome === 'conflict') ? exitCodes.failed : 0;
};

function oneFolder([dir, ...more]: readonly string[]): string {
  if (dir && more.length === 0) return resolve(dir);
  throw misused('sessions import takes one folder');
}

export function textOf({ dir, dryRun, sessions, problems, unnamed }: ImportReport): string {
  const width = Math.max(0, ...sessions.map(({ key }) => oneLine(key, 60).length));
  const rest = unnamed ? [`  ${dim('not asked for')}  ${unnamed} transcript(s) that no index names; --all brings them`] : [];
  const wrong = problems.map((problem) => `  ${bold('look')}  ${plain(problem)}`);
  const sum = `${sumOf(sessions)} of ${sessions.length} session(s) in ${plain(dir)}`;
  const head = dryRun ? `${bold('dry run')}, nothing was written: ${sum}` : sum;
  const listed = sessions.toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome)); // what is to be looked at ends it
  return [head, ...listed.map((one) => lineOf({ ...one, from: relative(dir, one.from) }, width)), ...rest, ...wrong].join('\n');
}

const order: readonly Outcome[] = ['added', 'updated', 'replaced', 'present', 'conflict', 'failed'];

function sumOf(sessions: readonly ImportedSession[]): string {
  const counts = order.map((outcome) => [sessions.filter((one) => one.outcome === outcome).length, outcome] as const);
  return counts.flatMap(([count, outcome]) => (count ? [`${count} ${outcome}`] : [])).join(', ') || '0 added';
}

const indent = ' '.repeat(12);

function lineOf(session: ImportedSession, width: number): string {
  const { key, outcome, why, messages, compactions } = session;
  const isBad = outcome === 'failed' || outcome === 'conflict';
  const state = isBad ? bold(outcome.padEnd(8)) : outcome.padEnd(8);
  const size = `${counted(messages, 'message')}${compactions ? `, ${counted(compactions, 'compaction')}` : ''}`;
  const head = `  ${state}  ${oneLine(key, 60).padEnd(width)}  ${dim(size)}${why ? `  ${oneLine(why, 300)}` : ''}`;
  return outcome === 'present' ? head : [head, ...notesOf(session)].join('\n'); // its notes were told when it came
}

function notesOf({ from, notes, moreNotes }: ImportedSession): readonly string[] {
  if (notes.length === 0) return [];
  const digits = Math.max(...notes.map(({ line }) => String(line).length));
  const lines = notes.map(({ line, text }) => `${indent}${dim(`line ${String(line).padStart(digits)}`)}  ${oneLine(text, 200)}`);
  return [indent + dim(plain(from)), ...lines, ...(moreNotes ? [`${indent}… and ${moreNotes} more`] : [])];
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
