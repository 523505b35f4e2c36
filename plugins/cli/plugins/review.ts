import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { bold, columns, dim, oneLine } from '../contract/terminal.ts';
import type { ContentFile } from './contents.ts';
import type { Draft } from './draft.ts';

/** What a person is shown before anything of a plugin runs. All of it is text of a stranger. */
export function review({ folder, name, source, manifest }: Draft, files: readonly ContentFile[], integrity: string): string {
  const { version = 'none', description = 'none', dependencies = {} } = manifest;
  const own = files.filter(({ path }) => !path.startsWith('node_modules/'));
  const others = files.filter((file) => !own.includes(file));
  const needed = Object.entries(dependencies).map(([one, range]) => `${one} ${range}`);
  const rows = [
    { label: 'from', value: source },
    { label: 'version', value: version },
    { label: 'description', value: description },
    { label: 'dependencies', value: needed.join(', ') || 'none' },
    { label: 'Node builtins', value: builtinsOf(folder, own).join(', ') || 'none found' },
    { label: 'builtins of those', value: builtinsOf(folder, others).join(', ') || 'none found' },
    { label: 'integrity', value: integrity },
    { label: 'files', value: `${own.length}, and ${others.length} of dependencies; ${sizeOf(files)}` },
  ].map(({ label, value }) => ({ label, value: oneLine(value, 600) }));
  const list = own.map((file) => `    ${oneLine(file.path, 200)}  ${dim(sizeOf([file]))}`);
  const note = dim('  Node builtins are found by a search of the text, which code can evade. A plugin may do whatever you may.');
  return [bold(name), columns(rows), ...list, note].join('\n');
}

/** Node's own modules that quoted names in the text lead to. */
export function builtinsOf(folder: string, files: readonly ContentFile[]): readonly string[] {
  const sources = files.filter(({ path }) => /\.[cm]?[jt]sx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path));
  const names = sources.flatMap(({ path }) => {
    const found = readFileSync(join(folder, path), 'utf8').matchAll(quotedName);
    return [...found].map(([, scheme, called = '']) => (scheme || builtinModules.includes(called) ? called : ''));
  });
  return [...new Set(names.filter(Boolean))].toSorted();
}

/** `node:…` in any quotes; without that scheme, only where something is imported. */
const quotedName = /(?:(?<=["'`])(node:)|\b(?:from|import|require|getBuiltinModule)\b\s*\(?\s*["'`](?=[\w/]+["'`]))([\w/]+)/g;

function sizeOf(files: readonly ContentFile[]): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`;
}
