import { joinKey } from '../../kernel/index.ts';
import { apis, moves } from './documented.ts';
import { dig, type Finding, isObject, type Keys, put, type Values } from './finding.ts';

export interface Translation {
  readonly values: Values;
  readonly findings: readonly Finding[];
  /** Where a value stands in the text. */
  readonly origin: (keys: Keys) => Keys;
}

/** Says in our form what OpenClaw says in another: keys that have moved, protocols and models of providers. */
export function translate(text: Values): Translation {
  const moved: { readonly from: Keys; readonly to: Keys }[] = [];
  const findings: Finding[] = [];
  let values = text;
  for (const { from, to, isOld, where: [path, is] = [] } of moves) {
    const [source, target] = [from.split('.'), to.split('.')];
    const value = dig(values, source);
    if (value === undefined || (path && dig(values, path.split('.')) !== is)) continue;
    const there = dig(values, target);
    if ((there !== undefined && !(isObject(there) && isObject(value))) || !canHold(values, target)) continue;
    if (target[1] === 'list') values = withAgent(values);
    values = put(taken(values, source), target, isObject(value) ? { ...value, ...(there as Values) } : value) as Values;
    moved.push({ from: source, to: target });
    if (isOld) findings.push({ keys: source, kind: 'warning', why: `it is an old form, read as ${target.reduce(joinKey, '')}` });
  }
  const providers = dig(values, ['models', 'providers']);
  if (isObject(providers)) values = put(values, ['models', 'providers'], speakable(providers, namedModels(values), findings)) as Values;
  const origins = dig(values, ['gateway', 'allowedOrigins']);
  if (Array.isArray(origins)) values = put(values, ['gateway', 'allowedOrigins'], knownOrigins(origins, findings)) as Values;
  const origin = (keys: Keys) => {
    const move = moved.find(
      ({ to, from }) => to.every((key, i) => key === keys[i]) && dig(text, [...from, ...keys.slice(to.length)]) !== undefined,
    );
    if (move) return [...move.from, ...keys.slice(move.to.length)];
    const inner = dig(text, keys) === undefined && moved.find(({ to }) => keys.every((key, i) => key === to[i]));
    return inner ? inner.from : keys;
  };
  return { values, findings, origin };
}

/** What is on the way is of the form that the way asks for, or not there. */
const canHold = (values: Values, target: Keys) =>
  target.slice(0, -1).every((_, i) => {
    const holder = dig(values, target.slice(0, i + 1));
    return holder === undefined || (/^\d+$/.test(target[i + 1] ?? '') ? Array.isArray(holder) : isObject(holder));
  });

/** The one agent that there is where no list says otherwise. */
function withAgent(values: Values): Values {
  const list = dig(values, ['agents', 'list']);
  const isEmpty = list === undefined || (Array.isArray(list) && list.length === 0);
  return isEmpty ? (put(values, ['agents', 'list'], [{ id: 'main' }]) as Values) : values;
}

/** Without a value, and without what held nothing else. */
function taken(values: Values, keys: Keys): Values {
  const above = keys.slice(0, -1);
  const holder = dig(values, above);
  const isLast = above.length > 0 && isObject(holder) && Object.keys(holder).length === 1;
  return isLast ? taken(values, above) : (put(values, keys, undefined) as Values);
}

/** A wildcard would let every page of the world in; here each is named. */
function knownOrigins(origins: readonly unknown[], findings: Finding[]): readonly unknown[] {
  const isKnown = (one: unknown) => typeof one !== 'string' || /^https?:\/\/[^/]+$/.test(one);
  const why = 'a page that may connect is named here as https://host, never as a pattern';
  const keysOf = (i: number) => ['gateway', 'allowedOrigins', String(i)];
  findings.push(...origins.flatMap((one, i): readonly Finding[] => (isKnown(one) ? [] : [{ keys: keysOf(i), kind: 'no effect', why }])));
  return origins.filter(isKnown);
}

function speakable(providers: Values, named: ReadonlyMap<string, ReadonlySet<string>>, findings: Finding[]): Values {
  const blocks = Object.entries(providers).flatMap(([name, block]) => {
    if (!isObject(block)) return [[name, block]];
    const { api } = block;
    if (typeof api !== 'string' || !apis.includes(api)) return [[name, providerOf(block, named.get(name))]];
    findings.push({
      keys: ['models', 'providers', name],
      kind: 'no effect',
      why: `no plugin here speaks "${api}" yet; the other providers work`,
    });
    return [];
  });
  return Object.fromEntries(blocks) as Values;
}

/** What OpenClaw takes from its own catalog is made of the models that the agents name; limits of a provider go to its models. */
function providerOf(block: Values, named: ReadonlySet<string> = new Set()): Values {
  const { contextWindow, maxTokens, ...own } = block;
  const limits = Object.fromEntries(Object.entries({ contextWindow, maxTokens }).filter(([, value]) => value !== undefined));
  const listed = own['models'] === undefined || (Array.isArray(own['models']) && own['models'].length === 0);
  const models = listed ? [...named].map((id) => ({ id })) : own['models'];
  const limited = Array.isArray(models) ? models.map((model: unknown) => (isObject(model) ? { ...limits, ...model } : model)) : models;
  if (own['api'] !== 'ollama') return { ...own, models: limited };
  const baseUrl = typeof own['baseUrl'] === 'string' ? own['baseUrl'].replace(/\/+$/, '').replace(/(?<!\/v1)$/, '/v1') : own['baseUrl'];
  return { ...own, api: 'openai-completions', baseUrl, models: limited };
}

/** By provider, the models that agents are given. */
function namedModels(values: Values): ReadonlyMap<string, ReadonlySet<string>> {
  const list = dig(values, ['agents', 'list']);
  const agents = [dig(values, ['agents', 'defaults']), ...(Array.isArray(list) ? list : [])];
  const choices = agents.map((agent) => dig(agent, ['model']));
  const refs = choices.flatMap((choice) => (isObject(choice) ? [choice['primary'], choice['fallbacks']].flat() : [choice]));
  const byProvider = new Map<string, Set<string>>();
  for (const ref of refs) {
    const [provider, id] = typeof ref === 'string' ? (ref.match(/^([^/]+)\/(.+)$/)?.slice(1) ?? []) : [];
    if (provider && id) byProvider.set(provider, (byProvider.get(provider) ?? new Set()).add(id));
  }
  return byProvider;
}
