import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { type Import, importsOf } from './imports.ts';

/** Every rule, by name. Each takes a checkout's folder and tells what is wrong there: an empty list where all is well. */
export const rules = {
  'what there is to check is found': filesAreFound,
  'the kernel stays small': kernelIsSmall,
  'the kernel knows no plugin, and only the entry knows the host': kernelKnowsNoPlugin,
  'a plugin imports only its own files, the kernel’s entry and contracts': pluginsStayApart,
  'a contract imports only the kernel’s entry and contracts': contractsAreStateless,
  'an imported package is one that the product installs': packagesAreDeclared,
  'a long file gives its reason': longFilesGiveReason,
  'a file is named by what it holds': filesAreNamed,
  'the top level holds only what belongs there': topLevelIsKnown,
  'the lockfile names no registry': lockfileNamesNoHost,
} satisfies Record<string, (root: string) => readonly string[]>;

const limits = { kernel: 1000, host: 800, file: 400 };
const codeFolders = ['kernel', 'plugins', 'examples', 'test'];
const kernelEntry = 'kernel/index.ts';
/** A contract may be kept in several files; its index alone is what others import. */
const contract = /^plugins\/[^/]+\/contract(?:\/[\w-]+)?\.ts$/;
const page = /^plugins\/web\/page\//;
/** No plugin: what authors of plugins test with, so it starts kernels as the host does. */
const testKit = 'plugins/testing/';

const product = 'package.json kernel plugins examples schemas docs test README.md LICENSE bin.js';
// What git, npm, CI and the tools insist on finding at the top.
const toolFiles = '.ci .git .gitignore .npmrc package-lock.json .oxlintrc.json biome.json rollup.config.js tsconfig.json vitest.config.ts';
const topLevel = new Set(`${product} ${toolFiles}`.split(' '));

function filesAreFound(root: string): string[] {
  return codeFolders
    .filter((folder) => existsSync(join(root, folder)) && files(root, folder).length === 0)
    .map((folder) => `${folder}/ exists, but no code was found in it`);
}

function kernelIsSmall(root: string): string[] {
  const isHost = (file: string) => file.startsWith('kernel/host/');
  const kernel = files(root, 'kernel');
  const core = lineSum(root, kernel, (file) => !isHost(file));
  const host = lineSum(root, kernel, isHost);
  return [
    ...(core < limits.kernel ? [] : [`kernel/ without host/ has ${core} lines, the limit is ${limits.kernel}`]),
    ...(host < limits.host ? [] : [`kernel/host/ has ${host} lines, the limit is ${limits.host}`]),
  ];
}

function kernelKnowsNoPlugin(root: string): string[] {
  return judgeImports(root, 'kernel', (file, { target }) => {
    if (target?.startsWith('plugins/')) return 'the kernel knows no plugin';
    if (!target?.startsWith('kernel/host/') || file.startsWith('kernel/host/')) return undefined;
    // What the host tells plugins is tokens and types, and reaches them through the entry.
    return file === kernelEntry && target === 'kernel/host/contract.ts' ? undefined : 'only the entry knows the host';
  });
}

function pluginsStayApart(root: string): string[] {
  return judgeImports(root, 'plugins', (file, { target }) => {
    if (target === undefined || target.startsWith(`${pluginOf(file)}/`)) return undefined;
    if (file.startsWith(testKit) && target.startsWith('kernel/')) return undefined;
    return target === kernelEntry || contract.test(target) ? undefined : 'neither its own, nor an entry or a contract';
  });
}

function contractsAreStateless(root: string): string[] {
  return judgeImports(root, 'plugins', (file, { specifier, target, typeOnly }) => {
    if (!contract.test(file) || target === kernelEntry || contract.test(target ?? '')) return undefined;
    return specifier === 'node:util' || (specifier.startsWith('node:') && typeOnly) ? undefined : 'a contract holds only tokens and types';
  });
}

/** Types may come from a devDependency, but not where the published declarations show them. */
function packagesAreDeclared(root: string): string[] {
  const whole = manifest(root, '.');
  return ['kernel', 'plugins'].flatMap((folder) =>
    judgeImports(root, folder, (file, { specifier, target, typeOnly }) => {
      const isPageUrl = specifier.startsWith('/') && page.test(file);
      if (target !== undefined || specifier.startsWith('node:') || isPageUrl) return undefined;
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      if (whole.dependencies.has(name) || manifest(root, pluginOf(file)).dependencies.has(name)) return undefined;
      const isPublished = folder === 'kernel' || contract.test(file);
      if (typeOnly && !isPublished && whole.devDependencies.has(name)) return undefined;
      return 'not a dependency of the product or of this plugin';
    }),
  );
}

function longFilesGiveReason(root: string): string[] {
  return allFiles(root)
    .filter((file) => lineSum(root, [file]) > limits.file)
    .filter((file) => !/(?:\/\/|\*|<!--).*\breason:/i.test(read(root, file).split('\n', 10).join('\n')))
    .map((file) => `${file}: over ${limits.file} lines without a comment "reason: …" in its first lines`);
}

function filesAreNamed(root: string): string[] {
  return allFiles(root)
    .filter((file) => /(?:^|[-.])(?:utils?|helpers?)(?:[-.]|$)/i.test(basename(file)))
    .map((file) => `${file}: name it by what it holds`);
}

function topLevelIsKnown(root: string): string[] {
  const ignored = new Set(
    read(root, '.gitignore')
      .split('\n')
      .map((line) => line.replace(/\/$/, '')),
  );
  return readdirSync(root)
    .filter((entry) => !topLevel.has(entry) && !ignored.has(entry))
    .map((entry) => `${entry}: does not belong at the top level`);
}

function lockfileNamesNoHost(root: string): string[] {
  const named = /"resolved": "(?:http|git).*"/.exec(read(root, 'package-lock.json'));
  return named === null ? [] : [`package-lock.json: ${named[0]}: .npmrc is there to leave it out`];
}

interface ResolvedImport extends Import {
  /** Path from the root for a relative import, else undefined. */
  readonly target: string | undefined;
}

function judgeImports(root: string, folder: string, judge: (file: string, imported: ResolvedImport) => string | undefined): string[] {
  return files(root, folder).flatMap((file) =>
    importsOf(file, read(root, file)).flatMap((imported) => {
      const isRelative = imported.specifier.startsWith('.');
      const target = isRelative ? posix.join(posix.dirname(file), imported.specifier) : undefined;
      const problem = judge(file, { ...imported, target });
      return problem === undefined ? [] : [`${file}:${imported.line}: imports "${imported.specifier}": ${problem}`];
    }),
  );
}

function pluginOf(file: string): string {
  return file.split('/', 2).join('/');
}

function manifest(root: string, folder: string) {
  const text = existsSync(join(root, folder, 'package.json')) ? read(root, join(folder, 'package.json')) : '{}';
  const { dependencies, devDependencies } = JSON.parse(text) as Record<string, Record<string, string>>;
  return {
    dependencies: new Set(Object.keys(dependencies ?? {})),
    devDependencies: new Set(Object.keys(devDependencies ?? {})),
  };
}

function allFiles(root: string): string[] {
  return codeFolders.flatMap((folder) => files(root, folder));
}

function files(root: string, folder: string): string[] {
  const exclude = ['**/node_modules/**'];
  return globSync(`${folder}/**/*.{ts,js}`, { cwd: root, exclude }).map((file) => file.replaceAll('\\', '/'));
}

function lineSum(root: string, among: readonly string[], counts: (file: string) => boolean = () => true): number {
  return among.filter(counts).reduce((total, file) => total + read(root, file).trimEnd().split('\n').length, 0);
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
