import { createHash } from 'node:crypto';
import module, { Module, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isCoded, KernelError, messageOf } from '../error.ts';
import type { Entry } from '../order.ts';
import type { Plugin } from '../plugin.ts';
import type { LeftOut } from '../points.ts';
import { bundledRoot, type Found } from './discovery.ts';

/** Loads plugins; one that fails is left out with its reason. `files` are the sources of each user plugin, for a watcher. */
export async function loadPlugins(found: readonly Found[], version: string) {
  const files = new Map<string, readonly string[]>();
  const load = async ({ name, entry, bundled }: Found): Promise<Entry | LeftOut> => {
    try {
      if (!bundled) return { ...(await bundleUser(name, entry, files)), source: entry };
      const { default: plugin } = (await import(pathToFileURL(entry).href)) as { default?: unknown };
      return { plugin: shaped(plugin, name), codeHash: `bundled:${version}`, source: 'bundled' };
    } catch (cause) {
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

/** One bundle per plugin: its hash is the plugin's identity, and as a function it can be collected, which a module never is. */
async function bundleUser(name: string, entry: string, files: Map<string, readonly string[]>) {
  const { rollup } = await import('rollup');
  const bundle = await rollup({ input: entry, plugins: [sources], onLog() {} }).catch((cause: { watchFiles?: string[] }) => {
    files.set(name, cause.watchFiles ?? [entry]);
    throw cause;
  });
  files.set(name, bundle.watchFiles);
  const { output } = await bundle.generate({
    ...({ format: 'cjs', exports: 'named', interop: 'esModule', sourcemap: 'inline' } as const),
    inlineDynamicImports: true,
    sourcemapPathTransform: (path, map) => resolve(dirname(map), path),
  });
  const [{ code, imports }] = output;
  const load = evaluate('exports.default = (id) => import(id)', entry) as (id: string) => Promise<unknown>;
  const modules = new Map(await Promise.all(imports.map(async (id) => [id, await load(id)] as const)));
  module.setSourceMapsSupport(true, { nodeModules: true });
  const plugin = shaped(
    evaluate(code, entry, (id) => modules.get(id)),
    name,
  );
  return { plugin, codeHash: createHash('sha256').update(code).digest('hex') };
}

/** By `_compile`, as many tools do: no other way to run a text resolves `import()` from the file and maps its stack. */
function evaluate(code: string, file: string, require?: (id: string) => unknown): unknown {
  const made = Object.assign(new Module(file), require && { require });
  (made as Module & { _compile(code: string, file: string): void })._compile(code, file);
  return (made.exports as { default?: unknown }).default;
}

const root = dirname(bundledRoot);
const extension = extname(import.meta.filename);

/** Our entry and our contracts are those of the running process, by whichever name they are imported. */
function own(id: string, importer: string | undefined): string | undefined {
  const contract = /^instar\/contracts\/([a-z][a-z0-9-]*)$/.exec(id)?.[1];
  if (contract) return join(bundledRoot, contract, `contract${extension}`);
  if (id === 'instar') return join(root, `kernel/index${extension}`);
  const file = id.startsWith('.') && importer ? resolve(dirname(importer), id) : '';
  const isOurs = /^(kernel\/index|plugins\/[a-z0-9-]+\/contract)\.[jt]s$/.test(file.slice(root.length + 1));
  return file.startsWith(`${root}/`) && isOurs ? file : undefined;
}

/** Reads a user plugin's TypeScript. What is not its own stays an import, from its folder. */
const sources = {
  name: 'instar',
  resolveId(id: string, importer: string | undefined) {
    const ours = own(id, importer);
    if (ours) return { id: pathToFileURL(ours).href, external: true };
    return id.startsWith('.') || isAbsolute(id) ? null : { id, external: true };
  },
  transform(code: string, id: string) {
    if (id.endsWith('.json')) return { code: `export default ${code}`, map: null };
    return id.endsWith('.ts') ? { code: stripTypes(code), map: null } : null;
  },
  resolveImportMeta(property: string | null, { moduleId }: { moduleId: string }) {
    const meta = { url: pathToFileURL(moduleId).href, filename: moduleId, dirname: dirname(moduleId) };
    return property === null ? `(${JSON.stringify(meta)})` : JSON.stringify(meta[property as keyof typeof meta]);
  },
};

/** Blanks types out, so that lines and columns stay. Node warns that this is experimental: no matter of the user's. */
function stripTypes(code: string): string {
  const warn = process.emitWarning; // oxlint-disable-line typescript/unbound-method -- put back as it was
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code, { mode: 'strip' });
  } finally {
    process.emitWarning = warn;
  }
}
