import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import ts from 'typescript';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const exclude = ['**/node_modules/**', '**/tsconfig.json', '**/*.d.ts'];

// A plugin is few files, where a clone has one for each idea: a module costs every start half a millisecond.
export default {
  input: Object.fromEntries(entries().map((file) => [withoutExtension(file), join(root, file)])),
  external: (id) => /^[^./]/.test(id) || id.endsWith('.json'),
  preserveEntrySignatures: 'strict',
  treeshake: false,
  plugins: [emptyDist(), eraseTypes(), filesByUrl(), placesOfSources(), copyAssets(), emitDeclarations()],
  output: {
    dir: dist,
    entryFileNames: '[name].js',
    chunkFileNames: ({ moduleIds }) => `${withoutExtension(relative(root, moduleIds[0]))}.js`,
    importAttributesKey: 'with',
  },
  onLog(level, log, report) {
    if (log.code === 'EMPTY_BUNDLE') return; // a file of types only is empty
    report(level === 'warn' ? 'error' : level, log); // what is warned of would break at the user's
  },
};

/** What is imported by a path that is made at run time: no other file names it. */
function entries() {
  const commands = find('plugins/*/commands.json').flatMap((file) =>
    Object.values(JSON.parse(readFileSync(join(root, file), 'utf8'))).map(({ module }) => join(dirname(file), module)),
  );
  const named = ['kernel/index.ts', 'kernel/host/entry.ts', 'plugins/cli/main.ts', 'plugins/testing/kit.ts'];
  return [...new Set([...named, ...find('plugins/*/{index,contract}.ts'), ...commands])];
}

function withoutExtension(file) {
  return file.slice(0, -extname(file).length);
}

function emptyDist() {
  return { name: 'empty-dist', renderStart: ({ dir }) => rmSync(dir, { recursive: true, force: true }) };
}

/** As Node does where a clone is run. */
function eraseTypes() {
  const { emitWarning } = process;
  return {
    name: 'erase-types',
    transform(code) {
      process.emitWarning = () => {}; // that this is experimental
      const erased = stripTypeScriptTypes(code, { mode: 'strip' });
      process.emitWarning = emitWarning;
      return erased;
    },
  };
}

/** A worker or a child process is named by URL: that is a file of its own. */
function filesByUrl() {
  return {
    name: 'files-by-url',
    transform(code, id) {
      return code.replace(/(?<=new URL\()'(\.{1,2}\/[^']+\.ts)', import\.meta\.url(?=\))/g, (_, file) => {
        const source = join(dirname(id), file);
        return `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'chunk', id: source, name: withoutExtension(relative(root, source)) })}`;
      });
    },
  };
}

/** Files that are read lie where they do in a clone: a module looks for them from its own place, not from its chunk's. */
function placesOfSources() {
  return {
    name: 'places-of-sources',
    resolveImportMeta(property, { chunkId, moduleId }) {
      const source = `${withoutExtension(relative(root, moduleId))}.js`;
      if (source === chunkId) return null;
      const path = relative(dirname(chunkId), source);
      const places = {
        dirname: `(import.meta.dirname + '/${dirname(path)}')`,
        filename: `(import.meta.dirname + '/${path}')`,
        url: `new URL('${path}', import.meta.url).href`,
      };
      return places[property] ?? null;
    },
  };
}

function copyAssets() {
  return {
    name: 'copy-assets',
    writeBundle({ dir }) {
      for (const file of find('{kernel,plugins}/**/*.*').filter((path) => !path.endsWith('.ts'))) {
        mkdirSync(dirname(join(dir, file)), { recursive: true });
        copyFileSync(join(root, file), join(dir, file));
      }
    },
  };
}

/** Types for those who write plugins: the kernel's entry, the contracts, the test kit, and what these show. */
function emitDeclarations() {
  return {
    name: 'emit-declarations',
    writeBundle({ dir }) {
      const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path));
      const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
      const program = ts.createProgram(
        ['kernel/index.ts', 'plugins/testing/kit.ts', ...find('plugins/*/contract.ts')].map((file) => join(root, file)),
        {
          ...options,
          noEmit: false,
          incremental: false,
          tsBuildInfoFile: undefined,
          declaration: true,
          emitDeclarationOnly: true,
          rewriteRelativeImportExtensions: true,
          rootDir: root,
          outDir: dir,
        },
      );
      const { diagnostics } = program.emit();
      if (diagnostics.length > 0) this.error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)));
    },
  };
}

function find(pattern) {
  return globSync(pattern, { cwd: root, exclude }).toSorted();
}
