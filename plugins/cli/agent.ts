import { parseArgs } from 'node:util';
import { exitCodes, misused, type RunCommand } from './contract.ts';
import { errorLine } from './exit.ts';
import { openLink } from './link.ts';
import { plain } from './contract/terminal.ts';
import { takeTurn } from './turn.ts';

/** `instar agent`: prints the answer and nothing else. Nobody is there to approve, so what needs approval is refused. */
export const run: RunCommand = async (argv, host) => {
  const option = { type: 'string' } as const;
  const options = { message: { ...option, short: 'm' }, agent: option, session: option, model: option };
  const { values } = parseArgs({ args: [...argv], options: { ...options, json: { type: 'boolean' } } });
  const { message, json, ...ask } = values;
  if (!message) throw misused('--message is missing');
  const link = openLink(host);
  try {
    const told = await takeTurn(link, { ...ask, text: message });
    if (json) console.log(JSON.stringify(told));
    else if (told.text) console.log(process.stdout.isTTY ? plain(told.text) : told.text);
    if (!json) for (const note of told.notes ?? []) console.error(`instar: ${plain(note)}`);
    if (told.error && !json) console.error(errorLine(told.error));
    return told.error ? exitCodes.failed : 0;
  } finally {
    await link.leave();
  }
};
