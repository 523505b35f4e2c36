import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isCoded, KernelError, messageOf } from '../error.ts';
import type { Entry } from '../order.ts';
import type { Plugin } from '../plugin.ts';
import type { LeftOut } from '../points.ts';
import type { Found } from './discovery.ts';

/** Makes one function of a user's plugin and calls it: what its module exports, the identity of its code, the files it was made of. */
export type Bundle = (entry: string) => Promise<{ readonly value: unknown; readonly codeHash: string; readonly files: readonly string[] }>;

type Made = Awaited<ReturnType<Bundle>>;

/** Loads plugins; one that fails is left out with its reason. Ours are imported, until somebody edits one: then it is bundled, as users' are. */
export function openLoader(version: string, bundle: Bundle) {
  const made = new Map<string, Made>();
  const files = new Map<string, readonly string[]>();
  const edited = new Set<string>();

  async function bundled(entry: string): Promise<Made> {
    const known = made.get(entry);
    if (known) return known;
    const fresh = await bundle(entry).catch((cause: { files?: readonly string[] }) => {
      files.set(entry, cause.files ?? [entry]);
      throw cause;
    });
    files.set(entry, fresh.files);
    made.set(entry, fresh);
    return fresh;
  }

  async function load({ name, entry, bundled: ours }: Found): Promise<Entry | LeftOut> {
    try {
      if (!files.has(entry)) files.set(entry, [entry]);
      if (!ours || edited.has(entry)) {
        const { value, codeHash } = await bundled(entry);
        return { plugin: shaped(value, name), codeHash, source: entry };
      }
      const { default: plugin } = (await import(pathToFileURL(entry).href)) as { default?: unknown };
      return { plugin: shaped(plugin, name), codeHash: `bundled:${version}`, source: 'bundled' };
    } catch (cause) {
      const code = isCoded(cause) && cause.code === 'PLUGIN_SHAPE' ? cause.code : 'PLUGIN_LOAD';
      const why = messageOf(cause); // a place in a file of its own says more than the entry
      return { plugin: name, code, why: why.startsWith(dirname(entry)) ? why : `${entry}: ${why}` };
    }
  }

  return {
    files,
    load: async (found: readonly Found[]) => {
      const loaded = await Promise.all(found.map(load));
      return { entries: loaded.filter((one) => 'codeHash' in one), leftOut: loaded.filter((one) => 'why' in one) };
    },
    /** These files changed: what was made of them, or lies in one folder with them, is made anew. */
    touch(changed: readonly string[]) {
      for (const [entry, sources] of files) {
        if (!changed.some((file) => sources.includes(file) || file.startsWith(`${dirname(entry)}/`))) continue;
        edited.add(entry);
        made.delete(entry);
      }
    },
  };
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
