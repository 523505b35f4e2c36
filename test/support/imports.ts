import ts from 'typescript';

/** One import as it is written, static or dynamic, of values or of types. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Erased before the code runs. `import { type X }` is not: under `verbatimModuleSyntax` the module is still loaded. */
  readonly typeOnly: boolean;
}

/** All imports of a file whose specifier is a literal. A computed one is the plugin loader's, and cannot be judged here. */
export function importsOf(file: string, text: string): Import[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    const [specifier, typeOnly] = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      const { line } = source.getLineAndCharacterOfPosition(specifier.getStart(source));
      found.push({ specifier: specifier.text, line: line + 1, typeOnly });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function specifierOf(node: ts.Node): [specifier: ts.Node | undefined, typeOnly: boolean] {
  if (ts.isImportDeclaration(node)) {
    return [node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword];
  }
  if (ts.isExportDeclaration(node)) return [node.moduleSpecifier, node.isTypeOnly];
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return [node.argument.literal, true];
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return [isDynamic ? node.arguments[0] : undefined, false];
}
