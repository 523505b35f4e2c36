import { copyFileSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const exclude = ['**/node_modules/**', '**/tsconfig.json', '**/*.d.ts'];

// Every source file is an input, so that one imported by a path computed at run time is in dist as well.
export default {
  input: find('{kernel,plugins}/**/*.ts').map((file) => join(root, file)),
  external: (id) => /^[^./]/.test(id) || id.endsWith('.json'),
  preserveEntrySignatures: 'strict',
  treeshake: false,
  plugins: [emptyDist(), eraseTypes(), copyAssets(), emitDeclarations()],
  output: { dir: dist, preserveModules: true, preserveModulesRoot: root, importAttributesKey: 'with' },
  onLog(level, log, report) {
    if (log.code === 'EMPTY_BUNDLE') return; // a file of types only is empty
    report(level === 'warn' ? 'error' : level, log); // what is warned of would break at the user's
  },
};

function emptyDist() {
  return { name: 'empty-dist', buildStart: () => rmSync(dist, { recursive: true, force: true }) };
}

/**
 * As Node does where a clone is run, so that lines stay what they are. Rollup rewrites the specifiers of imports; a file named
 * by URL (a worker, a child process) is renamed here.
 */
function eraseTypes() {
  const { emitWarning } = process; // oxlint-disable-line typescript/unbound-method -- put back as it was
  return {
    name: 'erase-types',
    transform(code) {
      process.emitWarning = () => {}; // that this is experimental
      const erased = stripTypeScriptTypes(code, { mode: 'strip' });
      process.emitWarning = emitWarning;
      return erased.replace(/(new URL\('\.{1,2}\/[^']+)\.ts(', import\.meta\.url\))/g, '$1.js$2');
    },
  };
}

function copyAssets() {
  return {
    name: 'copy-assets',
    writeBundle() {
      for (const file of find('{kernel,plugins}/**/*.*').filter((path) => !path.endsWith('.ts'))) {
        mkdirSync(dirname(join(dist, file)), { recursive: true });
        copyFileSync(join(root, file), join(dist, file));
      }
    },
  };
}

/** Types for those who write plugins: the kernel's entry, the contracts, the test kit, and what these show. */
function emitDeclarations() {
  return {
    name: 'emit-declarations',
    writeBundle() {
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
          outDir: dist,
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
