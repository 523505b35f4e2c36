import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bold, type CommandHost, dim, exitCodes, hanging, misused, plain, type RunCommand } from '../cli/contract.ts';
import type { JsonSchema } from '../../kernel/index.ts';
import { isOpenClaw } from './contract.ts';
import { faultsOf } from './faults.ts';
import { type Finding, isObject, type Values } from './finding.ts';
import { pathOf, readOpenClaw, readOwn } from './reading.ts';
import { isUnknownKey } from './review.ts';
import { configSchema } from './schema.ts';
import { idleKeys } from '../security/contract.ts';

/** A finding as it is told, with its place in the text. */
interface Row {
  readonly path: string;
  readonly place: string;
  readonly plugin?: string | undefined;
  readonly why?: string | undefined;
}
interface Report {
  readonly file: string;
  readonly form: 'openclaw' | 'instar';
  readonly inUse: readonly Row[];
  readonly noEffect: readonly Row[];
  readonly warnings: readonly Row[];
  readonly errors: readonly Row[];
}

/** `instar config check`: what a start would make of a config, told without one. */
export const run: RunCommand = async (argv, host) => {
  const { values, positionals } = parseArgs({ args: [...argv], options: { json: { type: 'boolean' } }, allowPositionals: true });
  const usual = join(host.home, 'instar.json5');
  const file = positionals[0] === undefined ? (host.configFile ?? usual) : resolve(positionals[0]);
  if (positionals.length > 1) throw misused('one file at a time');
  if (positionals[0] === undefined && !existsSync(file)) throw misused(`there is no config at ${file}; name one`);
  const report = await check(file, host);
  console.log(values.json ? JSON.stringify(report) : shown(report));
  return report.errors.length > 0 ? exitCodes.config : 0;
};

async function check(file: string, { readConfig, env, home }: CommandHost): Promise<Report> {
  const text = await readConfig(file, env);
  const schema = configSchema();
  const form = isOpenClaw(file, text.values) ? 'openclaw' : 'instar';
  const reading = (form === 'openclaw' ? readOpenClaw : readOwn)(text.values, schema, text.place);
  const mayBeOwn = hasOwnPlugins(text.values, home);
  const has = (kind: Finding['kind'], path: string) => reading.findings.some((one) => one.kind === kind && pathOf(one.keys) === path);
  // A variable that only a key without effect names is missed by nobody.
  const unset = text.problems.filter(({ path }) => form === 'instar' || has('in use', path));
  const missing = unset.map(({ keys, message }): Finding => ({ keys, kind: 'error', why: message }));
  const formal = (await faultsOf(reading.values, schema)).filter(({ keys }) => !missing.some((one) => pathOf(one.keys) === pathOf(keys)));
  const idle = idleIn(reading.values, schema);
  const all = [...reading.findings, ...missing, ...formal].map((one) => {
    if (mayBeOwn && isUnknownKey(one)) return { ...one, kind: 'warning' as const };
    return one.kind === 'in use' ? (idle(one) ?? one) : one;
  });
  const rows = (kind: Finding['kind']): readonly Row[] =>
    all
      .filter((one) => one.kind === kind)
      .map(({ keys, plugin, why }) => ({ path: pathOf(keys), place: text.place(pathOf(keys)), plugin, why }));
  const faulty = new Set([...missing, ...formal].map(({ keys }) => pathOf(keys)));
  const inUse = rows('in use').filter(({ path }) => !faulty.has(path));
  return { file, form, inUse, noEffect: rows('no effect'), warnings: rows('warning'), errors: rows('error') };
}

/** What is said of a key whose plugin this very config switches off: one that promises safety is a warning. */
function idleIn(values: Values, schema: JsonSchema): (one: Finding) => Finding | undefined {
  const entries = isObject(values['plugins']) && isObject(values['plugins']['entries']) ? values['plugins']['entries'] : {};
  const isOff = (plugin: string) => isObject(entries[plugin]) && entries[plugin]['enabled'] === false;
  const all = idleKeys(values, schema, (plugin) => !isOff(plugin));
  return ({ keys, plugin }) => {
    const path = pathOf(keys);
    const found = all.filter((key) => key.path === path || key.path.startsWith(`${path}.`) || key.path.startsWith(`${path}[`));
    if (found.length === 0) return undefined;
    const isSafety = found.some((key) => key.isSafety);
    return {
      keys,
      plugin,
      kind: isSafety ? 'warning' : 'no effect',
      why: `${isSafety ? 'has no effect: ' : ''}plugin "${found[0]?.plugin}" is off`,
    };
  };
}

/** Nothing of a plugin of the user's is run here, so its keys are not known. */
function hasOwnPlugins({ plugins }: Values, home: string): boolean {
  const { paths, packages } = isObject(plugins) ? plugins : {};
  const folder = join(home, 'plugins');
  return [paths, packages, existsSync(folder) ? readdirSync(folder) : []].some((list) => Array.isArray(list) && list.length > 0);
}

function shown({ file, form, inUse, noEffect, warnings, errors }: Report): string {
  const name = basename(file);
  const title = `${bold(plain(name))}, ${form === 'openclaw' ? 'an OpenClaw config' : 'a config of Instar'}`;
  const parts = [
    section(`in use: ${inUse.length}`, byPlugin(inUse)),
    section(`no effect here: ${noEffect.length}`, byReason(noEffect, file)),
    section(`warnings: ${warnings.length}`, lines(warnings, file)),
    section(`errors: ${errors.length}`, lines(errors, file)),
  ];
  return [title, ...parts.filter((part) => part !== undefined)].join('\n\n');
}

const section = (title: string, body: readonly string[]) => (body.length ? [bold(title), ...body].join('\n') : undefined);

function byPlugin(rows: readonly Row[]): readonly string[] {
  const groups = [...Map.groupBy(rows, ({ plugin }) => plugin ?? 'host')].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...groups.map(([plugin]) => plugin.length));
  return groups.map(
    ([plugin, own]) => `  ${dim(plugin.padEnd(width))}  ${hanging(own.map(({ path }) => plain(path)).join(', '), width + 4)}`,
  );
}

function byReason(rows: readonly Row[], file: string): readonly string[] {
  const groups = [...Map.groupBy(rows, ({ why = '' }) => why)];
  return groups.flatMap(([why, own]) => [`  ${hanging(why, 2)}`, ...own.map((row) => `    ${dim(at(row, file))}${plain(row.path)}`)]);
}

const lines = (rows: readonly Row[], file: string) =>
  rows.map((row) => `  ${hanging(`${at(row, file)}${plain(row.path)}: ${plain(row.why ?? '')}`, 4)}`);

/** Of the file itself, the line is enough. */
function at({ place, path }: Row, file: string): string {
  if (place === path) return '';
  return `${plain(place.startsWith(`${file}:`) ? place.slice(file.length - basename(file).length) : place)}  `;
}
