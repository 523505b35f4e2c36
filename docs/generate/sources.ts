import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** One parsed file. `owner` is its plugin, or `kernel`. */
export interface Source {
  readonly owner: string;
  /** From the checkout's root. */
  readonly file: string;
  readonly tree: ts.SourceFile;
  /** All of them, in the order of the text. */
  readonly nodes: readonly ts.Node[];
}

export const checkout = join(import.meta.dirname, '../..');

/** The product's own TypeScript, parsed and not type-checked: that takes a second, a checker ten. */
export function sources(root: string): readonly Source[] {
  const files = globSync('{kernel,plugins}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**', 'plugins/web/page/**'] });
  return files.toSorted().map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    return { owner: file.startsWith('kernel/') ? 'kernel' : (file.split('/')[1] ?? ''), file, tree, nodes: nodesOf(tree) };
  });
}

/** Every node below `node`, it included, in the order of the text. */
export function nodesOf(node: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (one: ts.Node): void => {
    found.push(one);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return found;
}

export const placeOf = ({ file, tree }: Source, node: ts.Node) =>
  `${file}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
