import { existsSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from '../../kernel/index.ts';

const root = join(import.meta.dirname, '..');
const entry = `index${extname(import.meta.filename)}`;

/** Every plugin that Instar brings (but those named), in the order of their names, as a start has them. */
export async function bundledPlugins(without: readonly string[] = []): Promise<readonly Plugin[]> {
  const names = readdirSync(root).filter((name) => !without.includes(name) && existsSync(join(root, name, entry)));
  const modules = names.toSorted().map((name) => import(pathToFileURL(join(root, name, entry)).href) as Promise<{ default: Plugin }>);
  return (await Promise.all(modules)).map((module) => module.default);
}
