import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../kernel/index.ts';
import type { CommandHost } from '../../cli/contract.ts';
import { exitCodes } from '../../cli/contract.ts';
import type { Difference } from '../contract.ts';
import { showDifference, shortPlace } from './show.ts';

/** `--diff FILE`: what that config would change. Only its text is read; nothing of it goes live. */
export async function diff(file: string, params: Readonly<Record<string, unknown>>, host: CommandHost, json: boolean): Promise<number> {
  const { values, place, problems } = await host.readConfig(file, host.env);
  const { tools, agents, channels } = values;
  for (const { path, message } of problems) console.error(`instar: ${shortPlace(place(path))} ${path}: ${message}`);
  if (problems.length) return exitCodes.config;
  const live = await host.readConfig(host.configFile, host.env).catch(() => undefined);
  try {
    // Judged by these alone: the rest, which may hold secrets, stays here.
    const candidate = { tools, agents: rulesOf(agents), channels: groupsOf(channels) };
    const difference = await host.ask<Difference>('policy.diff', { candidate, ...params });
    const places = (one: Difference['lines'][number]) => (one.change === 'lost' ? place : (live?.place ?? String));
    const lines = difference.lines.map((one) => ({ ...one, ...(one.path !== undefined && { place: places(one)(one.path) }) }));
    const beyond = live ? changedBeside(live.values, values) : [];
    console.log(json ? JSON.stringify({ ...difference, lines, beyond }) : showDifference({ ...difference, lines, beyond }));
    return 0;
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== 'POLICY_CANDIDATE') throw cause;
    for (const line of messageOf(cause).split('\n')) console.error(`instar: ${shortPlace(place(line.split(': ')[0] ?? ''))} ${line}`);
    return exitCodes.config;
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const pick = (value: unknown, keys: readonly string[]): unknown =>
  isFields(value) ? Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]])) : value;
const each = (value: unknown, of: (inner: unknown) => unknown): unknown =>
  isFields(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, of(inner)])) : value;

const fields = ['id', 'model', 'tools', 'subagents'];

function rulesOf(agents: unknown): unknown {
  if (!isFields(agents)) return agents;
  const { list, defaults } = agents;
  return { defaults: pick(defaults, fields), list: Array.isArray(list) ? list.map((one: unknown) => pick(one, fields)) : list };
}

const groupsOf = (channels: unknown) =>
  each(channels, (channel) =>
    each(pick(channel, ['groups']), (groups) => each(groups, (group) => pick(group, ['tools', 'toolsBySender']))),
  );

const own = ['profile', 'alsoAllow', 'allow', 'deny', 'byProvider', 'sandbox', 'subagents'];

/** Changes that decide about tools too, by code that no candidate is asked of. */
function changedBeside(now: Fields, then: Fields): readonly string[] {
  const [a, b] = [now['tools'], then['tools']].map((tools) => (isFields(tools) ? tools : {})) as [Fields, Fields];
  const inTools = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => !own.includes(key));
  const beside = ['plugins', 'models', 'mcp'].filter((key) => !isDeepStrictEqual(now[key], then[key]));
  return [...inTools.filter((key) => !isDeepStrictEqual(a[key], b[key])).map((key) => `tools.${key}`), ...beside];
}
