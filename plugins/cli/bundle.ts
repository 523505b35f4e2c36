import { createHash } from 'node:crypto';
import module, { Module, stripTypeScriptTypes } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isNamed, ownFile } from './own-names.ts';

interface Bundled {
  /** The default export. */
  readonly value: unknown;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly codeHash: string;
  readonly files: readonly string[];
}

/** What rollup throws: its message names the file relative to the working folder, which need not be the plugin's. */
interface Refused extends Error {
  readonly watchFiles?: string[];
  readonly id?: string;
  readonly loc?: { readonly line: number; readonly column: number; readonly file?: string };
}

/** One bundle per plugin: its hash is the plugin's identity, and as a function it can be collected, which a module never is. */
export async function bundle(entry: string): Promise<Bundled> {
  const { rollup } = await import('rollup');
  const built = await rollup({ input: entry, plugins: [sources(dirname(entry))], onLog() {} }).catch((cause: Refused) => {
    throw Object.assign(cause, { message: placed(cause), files: cause.watchFiles ?? [entry] });
  });
  const { output } = await built.generate({
    ...({ format: 'cjs', exports: 'named', interop: 'esModule', sourcemap: 'inline' } as const),
    inlineDynamicImports: true,
    sourcemapPathTransform: (path, map) => resolve(dirname(map), path),
  });
  const [{ code, imports }] = output;
  const load = evaluate('exports.load = (id) => import(id)', entry).load as (id: string) => Promise<unknown>;
  const imported = new Map(await Promise.all(imports.map(async (id) => [id, await load(id)] as const)));
  module.setSourceMapsSupport(true, { nodeModules: true });
  const exports = evaluate(code, entry, (id) => imported.get(id));
  return { value: exports.default, exports, codeHash: createHash('sha256').update(code).digest('hex'), files: built.watchFiles };
}

/** `/home/a/plugins/mine/sub/file.ts:2:33 what`, as every place is told; where rollup gives none, its words. */
function placed({ message, id, loc }: Refused): string {
  const words = message.replace(/^\[plugin \S+\] /, '');
  const file = loc?.file ?? id;
  if (!loc || file === undefined) return words;
  const what = words.replace(/^.*? \(\d+:\d+\): /, '');
  return `${file}:${loc.line}:${loc.column + 1} ${what}`;
}

/** Node forgets the source map of a module that is collected, so it lives as long as what it exports. */
const modules = new WeakMap<object, Module>();

/** By `_compile`, as many tools do: no other way to run a text resolves `import()` from the file and maps its stack. */
function evaluate(code: string, file: string, require?: (id: string) => unknown): Bundled['exports'] {
  const made = Object.assign(new Module(file), require && { require });
  (made as Module & { _compile(code: string, file: string): void })._compile(code, file);
  const exports = made.exports as Bundled['exports'];
  const { default: value = exports.run } = exports;
  if (value instanceof Object) modules.set(value, made);
  return exports;
}

/** Our entry, contracts and test kit are those of the running process, by whichever name they are imported. */
function own(id: string, importer: string | undefined): string | undefined {
  const file = id.startsWith('.') && importer ? resolve(dirname(importer), id) : '';
  return ownFile(id) ?? (isNamed(file) ? file : undefined);
}

/** Reads a user plugin's TypeScript. What is not its own stays an import, from its folder. */
const sources = (folder: string) => ({
  name: 'instar',
  resolveId(id: string, importer: string | undefined) {
    const ours = own(id, importer);
    // A contract of its own is part of it: tokens are the same by their ids.
    if (ours && !ours.startsWith(`${folder}/`)) return { id: pathToFileURL(ours).href, external: true };
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
});

/** Blanks types out, so that lines and columns stay. Node warns that this is experimental: no matter of the user's. */
function stripTypes(code: string): string {
  const warn = process.emitWarning; // oxlint-disable-line typescript/unbound-method -- put back as it was
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code, { mode: 'strip' });
  } catch (cause) {
    throw Object.assign(cause as Error, { loc: placeOf(cause as Error, code) });
  } finally {
    process.emitWarning = warn;
  }
}

/** Node tells the place in the head of the stack alone: `:2`, the line, which shows a tab as four spaces, and carets below it. */
function placeOf({ stack = '' }: Error, code: string): Refused['loc'] {
  const [, line] = /^:(\d+)\n/.exec(stack) ?? [];
  if (line === undefined) return undefined;
  const text = code.split('\n')[Number(line) - 1] ?? '';
  const [, before] = /\n( *)\^+\n/.exec(stack) ?? []; // none where the file ends too soon
  let column = 0;
  for (let width = 0; column < text.length && width < (before?.length ?? Infinity); column++) width += text[column] === '\t' ? 4 : 1;
  return { line: Number(line), column };
}
