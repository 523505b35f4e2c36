import { isCoded, KernelError, messageOf } from '../../../kernel/index.ts';
import type { Client } from '../client.ts';
import type { CommandHost } from '../contract.ts';
import { errorLine } from '../exit.ts';
import { findGateway } from '../reach.ts';
import { checkCandidate } from './candidate.ts';
import { type Change, isLost, swapIn } from './change.ts';
import { difference } from './difference.ts';
import type { History } from './history.ts';
import type { Live, Reloaded } from './methods.ts';
import { mainFile } from './opened.ts';

export interface CommitOptions {
  readonly 'dry-run'?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly 'show-secrets'?: boolean | undefined;
}

/** What became of a change, for `--json`. */
interface Outcome {
  readonly file: string;
  readonly written: boolean;
  /** The generation in which it is live; absent where no gateway took it up. */
  readonly generation?: number;
  /** The number of the change in the history. */
  readonly change?: number;
  readonly warnings: readonly string[];
}

/** Checks a change, shows it, writes it, has the running gateway take it up, and keeps it in the history. */
export async function commit(change: Change, host: CommandHost, history: History, options: CommitOptions): Promise<number> {
  const { json = false } = options;
  const warnings = [...(await checkCandidate(change, host))];
  const shown = await difference(change.file, change.before ?? '', change.after ?? '', options['show-secrets']);
  if (!json) console.log(shown);
  if (options['dry-run']) return tell({ file: change.file, written: false, warnings }, json, 'nothing was written: --dry-run');
  let gateway = await gatewayOf(host);
  const reload = async () => {
    // One that could not be asked may be now: the file itself may hold what it takes, such as the token.
    if (!gateway.client) gateway = await gatewayOf(host);
    return gateway.client && (await reloaded(change, host, gateway.client));
  };
  try {
    const swap = await swapIn(change, reload);
    const { id } = history.record(change);
    if (gateway.why) warnings.push(gateway.why);
    for (const { plugin, code, why } of swap ? newlyOut(swap, gateway.leftOut) : [])
      warnings.push(`${plugin} is left out: ${code}: ${why}`);
    const said = swap ? `live in generation ${swap.generation}` : 'written; it counts from the next start';
    const generation = swap && { generation: swap.generation };
    return tell({ file: change.file, written: true, ...generation, change: id, warnings }, json, `${said} (change ${id})`);
  } finally {
    gateway.client?.close();
  }
}

/** Nothing is to be done: no change, no generation, no history. */
export const unchanged = (file: string, said: string, { json = false }: CommitOptions) =>
  tell({ file, written: false, warnings: [] }, json, said);

async function reloaded(change: Change, host: CommandHost, client: Client): Promise<Reloaded> {
  try {
    return await client.call<Reloaded>('config.reload');
  } catch (error) {
    if (isCoded(error) && isLost(error)) return askAgain(change, host, error);
    throw error;
  }
}

/** A new token ends every connection that has the old one, ours too. */
async function askAgain({ file, after }: Change, host: CommandHost, lost: unknown): Promise<Reloaded> {
  const found = await findGateway(host);
  const live = await found?.client.call<Live>('config.live').finally(() => found.client.close());
  if (live && live.texts[file] === after) return { generation: live.generation, leftOut: [] };
  throw new KernelError(
    'CONFIG_UNKNOWN',
    `${file} is written, but whether it is live is not known: ${messageOf(lost)}; see "instar status"`,
  );
}

interface Found {
  readonly client?: Client;
  readonly leftOut: readonly string[];
  /** Why the running gateway takes no part. */
  readonly why?: string;
}

/** The running gateway, if this config is the one that it has. */
async function gatewayOf(host: CommandHost): Promise<Found> {
  let client: Client | undefined;
  try {
    client = (await findGateway(host))?.client;
    if (!client) return { leftOut: [] };
    const { file = mainFile({ ...host, configFile: undefined }) } = await client.call<Live>('config.live');
    const { inspection } = await client.call<{ inspection: { leftOut: readonly { plugin: string }[] } }>('status');
    if (file === mainFile(host)) return { client, leftOut: inspection.leftOut.map(({ plugin }) => plugin) };
    client.close();
    return { leftOut: [], why: `the running gateway has another config, ${file}` };
  } catch (error) {
    client?.close();
    return { leftOut: [], why: `the running gateway cannot be asked, it may follow by itself: ${messageOf(error)}` };
  }
}

const newlyOut = ({ leftOut }: Reloaded, before: readonly string[]) => leftOut.filter(({ plugin }) => !before.includes(plugin));

function tell(outcome: Outcome, json: boolean, said: string): number {
  if (json) console.log(JSON.stringify(outcome));
  else console.log(said);
  if (!json) for (const message of outcome.warnings) console.error(errorLine({ code: 'WARNING', message }));
  return 0;
}
