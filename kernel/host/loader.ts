import { pathToFileURL } from 'node:url';
import { isCoded, KernelError, messageOf } from '../error.ts';
import type { Entry } from '../order.ts';
import type { Plugin } from '../plugin.ts';
import type { LeftOut } from '../points.ts';
import type { Found } from './discovery.ts';

/** Makes one function of a user's plugin and calls it: what its module exports, the identity of its code, the files it was made of. */
export type Bundle = (entry: string) => Promise<{ readonly value: unknown; readonly codeHash: string; readonly files: readonly string[] }>;

/** Loads plugins; one that fails is left out with its reason. `files` are the sources of each user plugin, for a watcher. */
export async function loadPlugins(found: readonly Found[], version: string, bundle: Bundle) {
  const files = new Map<string, readonly string[]>();
  const load = async ({ name, entry, bundled }: Found): Promise<Entry | LeftOut> => {
    try {
      if (!bundled) {
        const made = await bundle(entry);
        files.set(name, made.files);
        return { plugin: shaped(made.value, name), codeHash: made.codeHash, source: entry };
      }
      const { default: plugin } = (await import(pathToFileURL(entry).href)) as { default?: unknown };
      return { plugin: shaped(plugin, name), codeHash: `bundled:${version}`, source: 'bundled' };
    } catch (cause) {
      if (!bundled) files.set(name, (cause as { files?: readonly string[] }).files ?? files.get(name) ?? [entry]);
      const code = isCoded(cause) && cause.code === 'PLUGIN_SHAPE' ? cause.code : 'PLUGIN_LOAD';
      return { plugin: name, code, why: `${entry}: ${messageOf(cause)}` };
    }
  };
  const loaded = await Promise.all(found.map(load));
  return { entries: loaded.filter((one) => 'codeHash' in one), leftOut: loaded.filter((one) => 'why' in one), files };
}

/** The kernel trusts the shape of what it is given; a user's file earns that here. */
function shaped(value: unknown, name: string): Plugin {
  const plugin = (value ?? {}) as Partial<Plugin>;
  const faults = {
    'export default definePlugin({ … })': typeof value !== 'object' || value === null,
    [`name must be "${name}", as its folder's`]: plugin.name !== name,
    'description must be a line of text': typeof plugin.description !== 'string',
    'setup must be a function': typeof plugin.setup !== 'function',
    'needs must be an object of service tokens': typeof (plugin.needs ?? {}) !== 'object',
    'provides must be a list of service tokens': !Array.isArray(plugin.provides ?? []),
    'config.schema must be a JSON Schema': typeof (plugin.config ?? { schema: {} }).schema !== 'object',
  };
  const fault = Object.entries(faults).find(([, isSo]) => isSo)?.[0];
  if (fault) throw new KernelError('PLUGIN_SHAPE', `plugin "${name}": ${fault}`);
  return plugin as Plugin;
}
