import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { byVerb, exitCodes, type RunCommand } from '../cli/contract.ts';
import type { Audit } from './contract.ts';
import { close, closable } from './fix.ts';
import { show } from './show.ts';

const flag = { type: 'boolean' } as const;
const options = { json: flag, fix: flag, yes: { ...flag, short: 'y' } } as const;

/** `instar security audit`: exits with 1 where something severe is left. */
const audited: RunCommand = async (argv, host) => {
  const { values } = parseArgs({ args: [...argv], options });
  const audit = await host.ask<Audit>('security.audit');
  if (!values.fix) return told(audit, values.json);
  const all = closable(audit.findings);
  if (all.length === 0) return told(audit, values.json);
  if (!values.json) console.log(all.map(({ file, from, to }) => `  chmod ${to} ${file}  (is ${from})`).join('\n'));
  if (!values.yes && !(await confirmed(all.length))) {
    console.error('instar: nothing was changed; look at the list, then add --yes');
    return exitCodes.failed;
  }
  for (const one of all) close(one);
  return told(await host.ask<Audit>('security.audit'), values.json);
};

function told(audit: Audit, json = false): number {
  console.log(json ? JSON.stringify(audit) : show(audit));
  return audit.counts.severe > 0 ? exitCodes.failed : 0;
}

async function confirmed(count: number): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new AbortController();
  terminal.once('close', () => closed.abort());
  const question = `Change the mode of ${count === 1 ? 'this file' : `these ${count} files`}? (y/N) `;
  const answer = await terminal.question(question, { signal: closed.signal }).catch(() => ''); // Ctrl-C, Ctrl-D: no
  return /^y(es)?$/i.test(answer.trim());
}

export const run = byVerb('security', { audit: async () => ({ run: audited }) });
