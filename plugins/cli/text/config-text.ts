import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import JSON5 from 'json5';
import { type ConfigText, isCoded, joinKey, KernelError, messageOf } from '../../../kernel/index.ts';
import { isOpenClaw, ourPlugins } from '../../openclaw/contract.ts';
import { Leaf, locate, parsePlaced, placeOf } from './place.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Unset = ConfigText['problems'][number];

const maxBytes = 2 * 1024 * 1024;
const refusedKeys = ['__proto__', 'constructor', 'prototype'];

/** JSON5 text → `$include` → `${VAR}` → values. Throws CONFIG_TEXT, in one line, where there are no values to go on with. */
export function readConfig(file: string | undefined, env: Env, read = readRegular): ConfigText {
  if (!file) return { file, texts: new Map(), values: {}, problems: [], place: (path) => path };
  const texts = new Map<string, string>();
  const cached = (path: string) => texts.get(path) ?? texts.set(path, read(path)).get(path) ?? '';
  // Places cost a second parser: it is asked only once something is wrong.
  const whole = (placed: boolean) => load(file, { placed, read: cached, chain: [] });
  const problems: Unset[] = [];
  let values: unknown;
  try {
    values = expand(whole(false), [], env, problems);
  } catch (cause) {
    if (isCoded(cause)) whole(true);
    throw cause;
  }
  let tree: unknown;
  const place = (path: string) => locate((tree ??= whole(true)), path) ?? path;
  const config = values as ConfigText['values'];
  if (!isOpenClaw(file, config)) return { file, texts, values: config, problems, place };
  return { file, texts, values: { ...config, plugins: ourPlugins(config['plugins']) }, problems, place, isForeign: true };
}

function readRegular(file: string): string {
  const stats = statSync(file);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)); // also drops a BOM
}

interface Loading {
  readonly placed: boolean;
  readonly read: (file: string) => string;
  /** The files on the way here, outermost first. */
  readonly chain: readonly string[];
}

function load(file: string, { placed, read, chain }: Loading, from = file): unknown {
  if (chain.includes(file)) throw fault(from, `includes itself: ${[...chain, file].join(' -> ')}`);
  if (chain.length > 10) throw fault(from, 'includes are nested deeper than 10');
  let text: string;
  try {
    text = read(file);
  } catch (cause) {
    throw fault(from, `cannot read ${file}: ${messageOf(cause)}`, cause);
  }
  const values = parse(text, file);
  const value = include(placed ? parsePlaced(text, file, values) : values, file, {
    placed,
    read,
    chain: [...chain, file],
  });
  if (chain.length === 0 && !isObject(value)) throw fault(file, 'the config must be an object { … }');
  return value;
}

function include(value: unknown, file: string, loading: Loading): unknown {
  if (Array.isArray(value)) value.forEach((item, i) => (value[i] = include(item, file, loading)));
  if (!isObject(value)) return value;
  const refused = Object.keys(value).find((key) => refusedKeys.includes(key));
  if (refused) throw fault(placeOf(value[refused]) ?? file, `the key "${refused}" is not allowed; rename it`);
  const { $include, ...own } = value;
  const keys = Object.keys(own);
  for (const key of keys) own[key] = include(own[key], file, loading);
  if ($include === undefined) return own;
  const from = placeOf($include) ?? file;
  const names = [$include].flat().map((name) => (name instanceof Leaf ? name.value : name));
  const isName = (name: unknown) => typeof name === 'string';
  if (!names.every(isName)) throw fault(from, '$include must be a file name or a list of them');
  const included = names.map((name) => load(resolve(dirname(file), name), loading, from)).reduce(merge);
  if (keys.length === 0) return included;
  if (!isObject(included)) throw fault(from, 'keys beside $include need an included file that holds an object');
  return merge(included, own);
}

/** Objects are merged, lists joined; of anything else the later wins. */
function merge(first: unknown, second: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
  if (!isObject(first) || !isObject(second)) return second;
  const merged = { ...first, ...second };
  for (const key of Object.keys(second)) if (key in first) merged[key] = merge(first[key], second[key]);
  return merged;
}

const reference = /\$?\$\{([A-Z_][A-Z0-9_]*)\}/g;

/** `${VAR}` in strings; `$${VAR}` stays as `${VAR}`. An empty variable counts as not set: nobody means an empty key. */
function expand(value: unknown, keys: readonly string[], env: Env, problems: Unset[]): unknown {
  const inner = (key: string | number, at: unknown) => expand(at, [...keys, String(key)], env, problems);
  if (Array.isArray(value)) return value.map((item, i) => inner(i, item));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, at]) => [key, inner(key, at)]));
  if (typeof value !== 'string') return value;
  return value.replace(reference, (whole, name: string) => {
    if (whole.startsWith('$$')) return whole.slice(1);
    const message = `the environment variable ${name} is not set; set it, or add ${name}=… to the .env file of the state folder`;
    if (!env[name]) problems.push({ keys, path: keys.reduce(joinKey, ''), message });
    return env[name] ?? '';
  });
}

function parse(text: string, file: string): unknown {
  try {
    return JSON5.parse(text);
  } catch (cause) {
    const { lineNumber: line = 1, columnNumber: column = 1 } = cause as { lineNumber?: number; columnNumber?: number };
    const what = messageOf(cause).replace(/^JSON5: | at \d+:\d+$/g, '');
    const near = text.split('\n')[line - 1]?.trim().slice(0, 60) ?? '';
    const cure = what.includes('end of input') ? 'a } or ] is missing' : 'mend it';
    const message = `${what} in \`${near}\`; ${cure}, or move the file away to start without it`;
    throw fault(`${file}:${line}:${column}`, message, cause);
  }
}

type Tree = Record<string, unknown>;
const isObject = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Leaf);

const fault = (place: string, what: string, cause?: unknown) => new KernelError('CONFIG_TEXT', `${place}: ${what}`, { cause });
