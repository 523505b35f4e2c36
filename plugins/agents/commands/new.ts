import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { KernelError } from '../../../kernel/index.ts';
import { bold, type CommandHost, type RunCommand } from '../../cli/contract.ts';
import type { AgentEntry, AgentShown, AgentsConfig } from '../contract.ts';
import { entriesOf, sameId } from '../resolution.ts';
import { agentIds } from './arguments.ts';
import { type Written, writePages } from './pages.ts';

const options = {
  name: { type: 'string' },
  model: { type: 'string' },
  workspace: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** `instar agents new ID`: an entry in the config, live at once where a gateway runs, and the files of its workspace. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  const { json = false, ...given } = values;
  const [id = ''] = agentIds(positionals, 1, 1);
  const entry: AgentEntry = { id, ...given };
  const set = await settingFor(entry, host);
  const code = await quietlyIf(json, () => setConfig(set, host));
  if (code !== 0) return code;
  const { fields } = await host.ask<AgentShown>('agents.show', { agentId: id });
  const workspace = String(fields.find(({ field }) => field === 'workspace')?.value);
  const pages = await writePages(workspace, entry.name ?? id);
  console.log(json ? JSON.stringify({ id, workspace, ...pages }) : told(id, workspace, pages));
  return 0;
};

/** Where there is no agent yet, `main` is one: it stays, and stays the default. */
async function settingFor(entry: AgentEntry, host: CommandHost): Promise<readonly [path: string, value: unknown]> {
  const { id } = entry;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) {
    throw new KernelError('AGENT_ID', `"${id}" is no agent id: a letter or digit first, then letters, digits, _ and -, at most 64`);
  }
  const config = ((await host.readConfig(host.configFile, host.env)).values['agents'] ?? {}) as AgentsConfig;
  const same = entriesOf(config).find((other) => sameId(other.id, id));
  if (same) throw new KernelError('AGENT_EXISTS', `agent "${same.id}" is there already; "instar agents show ${same.id}" shows it`);
  return config.list?.length ? ['agents.list[+]', entry] : ['agents.list', [{ id: 'main', default: true }, entry]];
}

/** By the command that edits the config: what it checks, shows and keeps for an undo is the same for every edit. */
async function setConfig([path, value]: readonly [string, unknown], host: CommandHost): Promise<number> {
  const config = host.commands.get('config');
  if (!config)
    throw new KernelError('AGENT_NO_EDITOR', `there is no command "config" here; add ${JSON.stringify(value)} at ${path} by hand`);
  const { run: edit } = (await import(pathToFileURL(config.module).href)) as { run: RunCommand };
  return edit(['set', path, JSON.stringify(value)], host);
}

/** With `--json` ours is the only line of output. */
async function quietlyIf<T>(isQuiet: boolean, work: () => Promise<T>): Promise<T> {
  if (!isQuiet) return work();
  const { log } = console;
  console.log = () => {};
  return work().finally(() => (console.log = log));
}

function told(id: string, workspace: string, { written, kept }: Written): string {
  const lines = [
    ...(written.length ? [`wrote ${workspace}: ${written.join(', ')}`] : []),
    ...(kept.length ? [`left as they are: ${kept.join(', ')}`] : []),
    `${bold('next:')} instar chat --agent ${id} "hello"`,
    `      instar agents show ${id}   every value that counts for it`,
  ];
  return lines.join('\n');
}
