import { nearest } from '../../../kernel/index.ts';
import type { CommandHost, RunCommand } from '../contract.ts';
import { misused } from './misuse.ts';

/** Each a module of its own, which is imported only when its verb is called. */
export type Verbs = Readonly<Record<string, () => Promise<{ readonly run: RunCommand }>>>;

/** `instar <command> <verb> …`. Where a command has a `usual` verb, that is meant when none is named. */
export function byVerb(command: string, verbs: Verbs | ((host: CommandHost) => Verbs), usual?: string): RunCommand {
  return async (argv, host) => {
    const all = new Map(Object.entries(typeof verbs === 'function' ? verbs(host) : verbs));
    const [verb = '', ...rest] = usual !== undefined && (argv[0] ?? '-').startsWith('-') ? [usual, ...argv] : argv;
    const found = all.get(verb);
    if (!found) throw misused(verb ? `${command} has no "${verb}"${guess(verb, all.keys())}` : `${command} needs a verb`);
    return (await found()).run(rest, host);
  };
}

function guess(verb: string, all: Iterable<string>): string {
  const near = nearest(verb, all);
  return near ? `; did you mean "${near}"?` : '';
}
