import { KernelError } from '../../../kernel/index.ts';
import { type CommandHost, misused, type RunCommand } from '../contract.ts';
import { findGateway } from '../reach.ts';
import { readArguments } from './arguments.ts';
import { difference, unified } from './difference.ts';
import { readText } from './files.ts';
import { type Entry, openHistory } from './history.ts';
import type { Live } from './methods.ts';
import { mainFile } from './opened.ts';

interface Pair {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** `instar config diff [N [M]]`: running against files; what change N did; between what N and M left. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = readArguments(argv, ['json', 'show-secrets']);
  const [from, to, ...more] = positionals.map(numberOf);
  if (more.length) throw misused('diff takes two numbers of changes at most');
  const pairs = from === undefined ? await liveAndFiles(host) : between(host, from, to);
  const different = pairs.filter(({ before, after }) => before !== after);
  if (values.json) {
    const texts = different.map(async ({ file, before, after }) => ({
      file,
      diff: await shownDiff(file, before, after, values['show-secrets']),
    }));
    console.log(JSON.stringify(await Promise.all(texts)));
  } else if (different.length === 0) console.log(from === undefined ? 'what runs is what the files say' : 'nothing differs');
  else for (const { file, before, after } of different) console.log(await difference(file, before, after, values['show-secrets']));
  return 0;
};

const shownDiff = (file: string, before: string, after: string, showsSecrets = false) =>
  showsSecrets ? unified(file, before, after) : difference(file, before, after);

export function numberOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw misused(`"${text}" is no number of a change; "instar config history" lists them`);
}

async function liveAndFiles(host: CommandHost): Promise<readonly Pair[]> {
  const found = await findGateway(host);
  if (!found)
    throw new KernelError('CLI_NOT_RUNNING', `no gateway runs on ${host.home}; "instar config diff N" shows a change of the history`);
  const { texts } = await found.client.call<Live>('config.live').finally(() => found.client.close());
  const files = new Set([...Object.keys(texts), mainFile(host)]);
  return [...files].map((file) => ({ file, before: texts[file] ?? '', after: readText(file) ?? '' }));
}

function between({ home }: CommandHost, from: number, to: number | undefined): readonly Pair[] {
  const history = openHistory(home);
  const { file, before = '', after = '' } = history.get(from);
  if (to === undefined) return [{ file, before, after }];
  history.get(to);
  const [first, last] = from < to ? [from, to] : [to, from];
  const entries = history.entries();
  const files = [...new Set(entries.filter(({ id }) => id <= last).map((entry) => entry.file))];
  return files.map((one) => {
    const own = entries.filter((entry) => entry.file === one);
    return { file: one, before: textAt(own, first), after: textAt(own, last) };
  });
}

/** What a file was after change `id`: a file that was first seen later was there all the same. */
function textAt(entries: readonly Entry[], id: number): string {
  const [begin] = entries;
  const past = entries.findLast((entry) => entry.id <= id);
  return (past ? past.after : begin?.kind === 'seen' ? begin.after : begin?.before) ?? '';
}
