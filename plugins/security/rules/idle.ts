import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host, JsonSchema, Values } from '../../../kernel/index.ts';
import { type Finding, type IdleKey, idleKeys } from '../contract.ts';
import { valuesAt } from './paths.ts';

let published: JsonSchema | undefined;

/** The schema of the whole config as it ships: in a clone beside the sources, in a package above what is built. Read once. */
function readSchema(): JsonSchema {
  const files = ['../../../schemas', '../../../../schemas'].map((folder) => join(import.meta.dirname, folder, 'config.schema.json'));
  return (published ??= JSON.parse(readFileSync(files.find((file) => existsSync(file)) ?? '', 'utf8')) as JsonSchema);
}

/** SPEC 1.3 has no unknown key pass in silence; nor does a known one whose plugin is off or was left out. One finding for each plugin. */
export function idleFindings(config: Values, host: Host): readonly Finding[] {
  const { instances, leftOut } = host.inspect();
  // The usual start, which need not read a schema.
  if (leftOut.length === 0 && !valuesAt(config, 'plugins.entries.*.enabled').some(({ value }) => value === false)) return [];
  const live = new Set(instances.map(({ plugin }) => plugin));
  const byPlugin = Map.groupBy(
    idleKeys(config, readSchema(), (name) => live.has(name)),
    ({ plugin }) => plugin,
  );
  return [...byPlugin].map(([plugin, keys]) => findingOf(plugin, keys, leftOut.find((one) => one.plugin === plugin)?.why));
}

function findingOf(plugin: string, keys: readonly IdleKey[], why: string | undefined): Finding {
  const promises = keys.filter(({ isSafety }) => isSafety);
  const told = promises.length > 0 ? promises : keys;
  const names = told.slice(0, 3).map(({ path }) => path);
  const more = told.length > names.length ? ` and ${told.length - names.length} more` : '';
  const state = why === undefined ? 'is off' : `is left out (${why})`;
  return {
    severity: promises.length > 0 ? 'warning' : 'note',
    code: promises.length > 0 ? 'guard-idle' : 'key-idle',
    path: names[0] ?? '',
    message: `${names.join(', ')}${more} ${told.length > 1 ? 'have' : 'has'} no effect: plugin "${plugin}" ${state}`,
    mend: why === undefined ? `instar plugins enable ${plugin}` : `instar plugins inspect ${plugin}`,
  };
}
