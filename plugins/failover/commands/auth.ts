import { parseArgs } from 'node:util';
import type { AuthLine } from '../../auth-profiles/contract.ts';
import { bold, byVerb, type CommandHost, dim, misused, oneLine, type RunCommand } from '../../cli/contract.ts';
import { secondsOf } from '../seconds.ts';
import { readSecret } from './secret.ts';

const options = { json: { type: 'boolean' }, profile: { type: 'string' }, mode: { type: 'string' }, env: { type: 'string' } } as const;
interface Given {
  readonly json?: boolean | undefined;
  readonly profile?: string | undefined;
  readonly mode?: string | undefined;
  readonly env?: string | undefined;
}
interface Added {
  readonly id: string;
  readonly notes?: readonly string[];
}
type Verb = (words: readonly string[], given: Given, host: CommandHost) => Promise<{ readonly answer: unknown; readonly text: string }>;

/** `instar models auth <verb>`. No key is ever an argument: others of this machine could read it. */
export const run = byVerb(
  'models auth',
  Object.fromEntries(Object.entries({ list, add, remove, order, clear }).map(([verb, act]) => [verb, async () => ({ run: told(act) })])),
  'list',
);

function told(act: Verb): RunCommand {
  return async (argv, host) => {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    const { answer, text } = await act(positionals, values, host);
    console.log(values.json ? JSON.stringify(answer) : text);
    return 0;
  };
}

async function list([provider]: readonly string[], _given: Given, host: CommandHost) {
  const answer = await host.ask<{ readonly profiles: readonly AuthLine[] }>('auth.list', { ...(provider && { provider }) });
  return { answer, text: table(answer.profiles) };
}

async function add([provider]: readonly string[], { profile, mode = 'api_key', env }: Given, host: CommandHost) {
  if (!provider) throw misused('models auth add needs a provider: instar models auth add anthropic');
  const secret = env
    ? { source: 'env', id: env }
    : await readSecret(`${mode === 'oauth' ? 'Tokens' : 'Key'} for ${provider}: `, mode === 'oauth');
  const answer = await host.ask<Added>('auth.add', { provider, mode, secret, ...(profile && { id: profile }) });
  const lines = [
    `added ${bold(answer.id)}; "instar models doctor" tries it`,
    ...(answer.notes ?? []).map((note) => dim(oneLine(note, 300))),
  ];
  return { answer, text: lines.join('\n') };
}

async function remove([id]: readonly string[], _given: Given, host: CommandHost) {
  if (!id) throw misused('models auth remove needs a profile; "instar models auth list" shows them');
  const answer = await host.ask<{ readonly removed: string }>('auth.remove', { id });
  return { answer, text: `removed ${bold(answer.removed)}` };
}

async function order([provider, ...ids]: readonly string[], _given: Given, host: CommandHost) {
  if (!provider)
    throw misused(
      'models auth order needs a provider, and profiles to set an order: instar models auth order anthropic work private, or "none"',
    );
  const wanted = ids.length === 1 && ids[0] === 'none' ? [] : ids;
  const answer = await host.ask<{ readonly ids: readonly string[] }>('auth.order', { provider, ...(ids.length > 0 && { ids: wanted }) });
  return { answer, text: answer.ids.length ? answer.ids.join(', ') : dim('no order: OAuth, tokens, keys; the least recently used first') };
}

async function clear([name]: readonly string[], { profile }: Given, host: CommandHost) {
  const { profiles } = await host.ask<{ readonly profiles: readonly AuthLine[] }>('auth.list');
  const isProvider = name !== undefined && profiles.every(({ id }) => id !== name) && profiles.some(({ provider }) => provider === name);
  const id = profile ?? (isProvider ? undefined : name);
  const answer = await host.ask<{ readonly cleared: number }>('auth.clear', { ...(id && { id }), ...(isProvider && { provider: name }) });
  return { answer, text: answer.cleared ? `${answer.cleared} ended` : dim('nothing rests') };
}

/** Of a provider without profiles. */
const ownKey = 'no profile: the key is that of models.providers, else of the environment, where it needs one';

function table(profiles: readonly AuthLine[]): string {
  if (profiles.length === 0) return dim('no profile; add one with "instar models auth add PROVIDER"');
  const width = Math.max(...profiles.map(({ id }) => id.length));
  const line = ({ id, mode, origin, state, readyAt, why, models }: AuthLine) => {
    const when = state === 'resting' && readyAt !== undefined ? `ready in ${secondsOf(readyAt - Date.now())}` : state;
    const rests = models.map((one) => `with ${one.model}: ready in ${secondsOf(one.readyAt - Date.now())} (${one.reason})`).join(', ');
    const facts =
      origin === 'implicit' ? ownKey : `${mode}, ${origin === 'config' ? 'auth.profiles' : 'added by command'}; ${rests || why}`;
    return `    ${oneLine(id, 80).padEnd(width)}  ${state === 'ready' ? when : bold(when)}  ${dim(oneLine(origin === 'implicit' && rests ? rests : facts, 200))}`;
  };
  const byProvider = Map.groupBy(profiles, ({ provider }) => provider);
  return [...byProvider].map(([provider, all]) => [`  ${bold(provider)}`, ...all.map(line)].join('\n')).join('\n');
}
