import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isCoded, KernelError } from '../../../kernel/index.ts';
import { ownExtension, ownNames, ownRoot } from '../own-names.ts';

export const kinds = ['tool', 'hook', 'channel', 'provider', 'prompt'] as const;
export type Kind = (typeof kinds)[number];
export const isKind = (kind: string): kind is Kind => (kinds as readonly string[]).includes(kind);

const templates = join(import.meta.dirname, 'templates');

/** Writes a plugin of this kind, whole or not at all; tells the files. What is there already is never overwritten. */
export async function scaffold(folder: string, name: string, kind: Kind): Promise<readonly string[]> {
  const home = dirname(dirname(folder));
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  // Beside the plugins, not among them: a half-written one would be taken for a plugin.
  const draft = await mkdtemp(join(home, '.new-plugin-'));
  try {
    const files = await filesOf(name, kind);
    for (const [file, text] of Object.entries(files)) await writeFile(join(draft, file), text);
    await rename(draft, folder);
    return Object.keys(files);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    if (!isCoded(cause) || !['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(cause.code)) throw cause;
    throw new KernelError('PLUGIN_EXISTS', `${folder} is there already, and is left as it is; choose another name`, { cause });
  }
}

async function filesOf(name: string, kind: Kind): Promise<Readonly<Record<string, string>>> {
  const words: Readonly<Record<string, string>> = { name, snake: name.replaceAll('-', '_'), kind };
  const filled = async (template: string) =>
    (await readFile(join(templates, template), 'utf8')).replace(/\{\{(\w+)\}\}/g, (whole, word: string) => words[word] ?? whole);
  const sources = (await readdir(templates)).filter((file) => file.startsWith(`${kind}.`) && file.endsWith('.ts.txt'));
  const own: Record<string, string> = {};
  for (const file of sources.toSorted()) {
    const as = file.slice(kind.length + 1, -'.txt'.length);
    own[as === 'test.ts' ? `${name}.test.ts` : as] = await filled(file);
  }
  return {
    ...own,
    'README.md': (await filled('README.md.txt')).replace('<kind>\n', await filled(`${kind}.README.md.txt`)),
    'package.json': json(manifest(name)),
    'tsconfig.json': json(tsconfig()),
  };
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const manifest = (name: string) => ({
  name: `instar-plugin-${name}`,
  version: '0.1.0',
  private: true,
  type: 'module',
  scripts: { test: `instar plugins test ${name}` },
  devDependencies: { '@types/node': '>=24' },
});

/** An editor checks the plugin against this very installation. */
function tsconfig() {
  const declared = ownExtension === '.js' ? '.d.ts' : '.ts';
  const paths = Object.entries(ownNames).map(([ours, path]) => [ours, [join(ownRoot, `${path}${declared}`)]]);
  return {
    compilerOptions: {
      target: 'es2024',
      lib: ['esnext', 'esnext.disposable'],
      module: 'nodenext',
      types: ['node'],
      typeRoots: ['./node_modules/@types', ...typeRoot()],
      paths: Object.fromEntries(paths) as Readonly<Record<string, readonly string[]>>,
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      // What Node runs as it is: types that can be blanked out.
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      resolveJsonModule: true,
      skipLibCheck: true,
      noEmit: true,
    },
    include: ['**/*.ts'],
    exclude: ['node_modules'],
  };
}

/** Where Node's types are, if they were installed with us; else the plugin's own devDependency brings them. */
function typeRoot(): readonly string[] {
  try {
    return [dirname(dirname(createRequire(join(ownRoot, 'x.js')).resolve('@types/node/package.json')))];
  } catch {
    return [];
  }
}
