import { isSecretName, KernelError, nearest } from '../../../kernel/index.ts';
import { type CommandHost, misused, type RunCommand } from '../contract.ts';
import { dim, plain } from '../contract/terminal.ts';
import { readArguments } from './arguments.ts';
import { keysOf, type Layers, placeIn, type Tree, valueAt } from './layers.ts';
import { openConfig } from './opened.ts';
import { parsePath, pathText, type Step } from './path.ts';
import { follow, type Reached } from './plan.ts';
import { readSchema, schemaAt, typesAt } from './schema.ts';
import { withoutSecrets } from './secret.ts';

interface Options {
  readonly raw?: boolean | undefined;
  readonly 'show-secrets'?: boolean | undefined;
}

interface Row {
  readonly path: string;
  readonly value: unknown;
  /** `file:line:column`. */
  readonly place: string;
}

/** `instar config get [PATH]`: values and where they are written. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = readArguments(argv, ['json', 'raw', 'show-secrets']);
  const [path, ...more] = positionals;
  if (more.length) throw misused('get takes one path');
  const { tree } = openConfig(host);
  const reached = path === undefined ? { layers: tree.root, keys: [], rest: [], held: [] } : follow(tree, parsePath(path));
  if (reached.rest.length) return notWritten(reached, values.json ?? false);
  const rows = await rowsOf(tree, reached, host, values);
  if (values.json) console.log(JSON.stringify(path === undefined || isTree(reached.layers) ? rows : rows[0]));
  else console.log(path !== undefined && !isTree(reached.layers) ? only(rows) : table(rows));
  return 0;
};

const isTree = (layers: Layers) => layers[0].node.kind !== 'leaf';

const only = ([row]: readonly Row[]) => (row ? `${shown(row.value)}  ${dim(row.place)}` : '');

function table(rows: readonly Row[]): string {
  if (!rows.length) return 'nothing is set';
  const width = Math.min(48, Math.max(...rows.map(({ path }) => path.length)));
  const room = Math.min(40, Math.max(...rows.map(({ value }) => shown(value).length)));
  return rows.map(({ path, value, place }) => `  ${plain(path).padEnd(width)}  ${shown(value).padEnd(room)}  ${dim(place)}`).join('\n');
}

const shown = (value: unknown) => plain(typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'undefined'));

/** Leaf by leaf; an empty list or object is one too. */
async function rowsOf(
  tree: Tree,
  reached: Reached,
  { env, configFile, readConfig }: CommandHost,
  options: Options,
): Promise<readonly Row[]> {
  const text = await readConfig(configFile, env);
  const unset = new Set(text.problems.map(({ path }) => path));
  const valueOf = (layers: Layers, keys: readonly string[]) => {
    const isWritten = options.raw || unset.has(pathText(keys));
    const value = isWritten ? valueAt(tree, layers) : dig(text.values, keys);
    return options['show-secrets'] ? value : withoutSecrets(value, keys.some(isSecretName));
  };
  const rows = ({ layers, keys, held }: Omit<Reached, 'rest'>): readonly Row[] => {
    const inner = keysOf(layers);
    if (inner.length) return inner.flatMap((key) => rows(follow1(tree, { layers, keys, held }, key)));
    const last = held.at(-1);
    return last ? [{ path: pathText(keys), value: valueOf(layers, keys), place: placeIn(last.source, last.part.start) }] : [];
  };
  return rows(reached);
}

function follow1(tree: Tree, { layers, keys }: Omit<Reached, 'rest'>, key: string): Reached {
  const { layers: inner, held } = follow({ ...tree, root: layers }, [{ key, isBare: false }]);
  return { layers: inner, keys: [...keys, key], rest: [], held };
}

const dig = (values: unknown, keys: readonly string[]) =>
  keys.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], values);

/** `[main]` is an entry of that id, and none is written: to call its fields unknown would be untrue. */
function refuseUnlisted(keys: readonly string[], rest: readonly Step[]) {
  for (const [i, { key, isBare }] of rest.entries()) {
    const list = [...keys, ...rest.slice(0, i).map((one) => one.key)];
    if (!isBare || /^(\d+|\+)$/.test(key) || !typesAt(readSchema(), list).includes('array')) continue;
    throw new KernelError(
      'CONFIG_PATH',
      `${pathText(list)} has no entry "${key}"; "instar config get ${pathText(list)}" shows what is written`,
    );
  }
}

/** The schema may know what counts instead. */
function notWritten({ keys, rest }: Reached, json: boolean): number {
  const whole = [...keys, ...rest.map(({ key }) => key)];
  const path = pathText(whole);
  refuseUnlisted(keys, rest);
  const schemas = schemaAt(readSchema(), whole);
  const usual = schemas.find((schema) => schema['default'] !== undefined)?.['default'];
  if (schemas.length) {
    const told =
      usual === undefined ? `${path} is not set, and there is no default` : `${shown(usual)}  ${dim('the default; it is not set')}`;
    console.log(json ? JSON.stringify({ path, value: usual ?? null, place: 'default' }) : told);
    return 0;
  }
  const parent = schemaAt(readSchema(), keys).flatMap((schema) => Object.keys((schema['properties'] as object | undefined) ?? {}));
  const near = nearest(rest[0]?.key ?? '', parent);
  throw new KernelError(
    'CONFIG_PATH',
    `${path} is not set, and no plugin of ours knows it${near ? `; did you mean "${pathText([...keys, near])}"?` : ''}`,
  );
}
