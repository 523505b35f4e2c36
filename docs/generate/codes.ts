import { globSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { placeOf, type Source, sources } from './sources.ts';

/** One row of a table: what a code means, and whose it is. */
export interface Code {
  readonly code: string;
  readonly owner: string;
  readonly text: string;
}

type Raised = { readonly code: string; readonly owner: string; readonly place: string };

/** `kernel/codes.json` and each plugin's own. */
export function codeTables(root: string): readonly Code[] {
  return globSync('{kernel,plugins/*}/codes.json', { cwd: root })
    .toSorted()
    .flatMap((file) => {
      const table = JSON.parse(readFileSync(join(root, file), 'utf8')) as Readonly<Record<string, string>>;
      const owner = file.startsWith('kernel/') ? 'kernel' : (file.split('/')[1] ?? '');
      return Object.entries(table).map(([code, text]) => ({ code, owner, text }));
    });
}

/**
 * What is wrong with the tables of a checkout: a code raised without a row, a row never raised or without its cure, two rows of one code. A plugin
 * raises its own codes, the kernel's, and those of plugins whose contract it imports.
 */
export function codeProblems(root: string): readonly string[] {
  const table = codeTables(root);
  const all = sources(root);
  const imported = contractsImported(all);
  const isKnown = ({ code, owner }: Raised) =>
    table.some((row) => row.code === code && [owner, 'kernel', ...(imported.get(owner) ?? [])].includes(row.owner));
  const known = new Map(table.map((row) => [row.code, row.owner]));
  const twice = table.filter(({ code, owner }) => known.get(code) !== owner);
  const mentioned = new Set(all.flatMap(mentionedIn));
  return [
    ...raisedCodes(all)
      .filter((one) => !isKnown(one))
      .map(({ code, owner, place }) => `${place}: ${code} is in no table that "${owner}" may use${hint(known.get(code))}`),
    ...table
      .filter(({ code }) => !mentioned.has(code))
      .map(({ code, owner }) => `${code} is in the table of "${owner}", but nothing raises it`),
    ...table
      .filter(({ owner, text }) => owner !== 'kernel' && !text.includes('; '))
      .map(({ code }) => `${code}: say what it means; then what to do`),
    ...twice.map(({ code, owner }) => `${code} is in the tables of "${owner}" and of "${known.get(code)}"`),
  ];
}

const hint = (owner: string | undefined) => (owner ? `; it belongs to "${owner}", whose contract is not imported` : '');

/** Not the system's own, such as ETIMEDOUT, nor Node's ERR_…, which are passed on or told with a command's usage. */
const isCode = (text: string) => /^(?!ERR_)[A-Z][A-Z0-9_]{3,}$/.test(text) && !(text in constants.errno);

/** Every literal that stands where an error gets its code. */
export function raisedCodes(all: readonly Source[]): readonly Raised[] {
  const makers = codeParameters(all);
  return all.flatMap((source) =>
    source.nodes.flatMap((node) =>
      codeExpressions(node, (name) => makers.get(`${source.owner}/${name}`) ?? makers.get(name))
        .flatMap(literalsOf)
        .filter(({ text }) => isCode(text))
        .map((literal) => ({ code: literal.text, owner: source.owner, place: placeOf(source, literal) })),
    ),
  );
}

/** The expressions below `node` that become the `code` of an error. */
function codeExpressions(node: ts.Node, parameterOf: (name: string) => number | undefined): readonly ts.Expression[] {
  if (ts.isNewExpression(node)) return node.expression.getText().endsWith('Error') ? (node.arguments ?? []) : [];
  if (ts.isCallExpression(node)) {
    if (node.expression.kind === ts.SyntaxKind.SuperKeyword) return node.arguments;
    const at = ts.isIdentifier(node.expression) ? parameterOf(node.expression.text) : undefined;
    return at === undefined ? [] : node.arguments.slice(at, at + 1);
  }
  if (ts.isBinaryExpression(node)) {
    const isAssigned = node.operatorToken.kind === ts.SyntaxKind.EqualsToken && /(?:^|\.)code$/.test(node.left.getText());
    return isAssigned ? [node.right] : [];
  }
  if (!isNamed(node) || nameOf(node) !== 'code' || !node.initializer) return [];
  return [node.initializer];
}

type Named = ts.PropertyAssignment | ts.VariableDeclaration | ts.BindingElement | ts.ParameterDeclaration | ts.PropertyDeclaration;
const isNamed = (node: ts.Node): node is Named =>
  ts.isPropertyAssignment(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isBindingElement(node) ||
  ts.isParameter(node) ||
  ts.isPropertyDeclaration(node);
const nameOf = (node: Named) => (ts.isBindingElement(node) && node.propertyName ? node.propertyName : node.name).getText();

/** The string literals that an expression may come to. */
function literalsOf(node: ts.Expression): readonly ts.StringLiteralLike[] {
  if (ts.isStringLiteralLike(node)) return [node];
  if (ts.isConditionalExpression(node)) return [...literalsOf(node.whenTrue), ...literalsOf(node.whenFalse)];
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return literalsOf(node.expression);
  const joins = [ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.AmpersandAmpersandToken];
  if (ts.isBinaryExpression(node) && joins.includes(node.operatorToken.kind)) return [...literalsOf(node.left), ...literalsOf(node.right)];
  return [];
}

/** Which parameter of a function is the code, by `plugin/function`, and by name alone for what contracts export. */
function codeParameters(all: readonly Source[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { owner, file, nodes } of all)
    for (const node of nodes) {
      if (!ts.isFunctionLike(node) || !ts.isIdentifier(named(node) ?? node)) continue;
      const at = node.parameters.findIndex(({ name }) => name.getText() === 'code');
      if (at < 0) continue;
      const name = named(node)?.getText() ?? '';
      found.set(`${owner}/${name}`, at);
      if (file.endsWith('/contract.ts')) found.set(name, at);
    }
  return found;
}

const named = (node: ts.SignatureDeclaration) =>
  node.name ?? (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined);

/** Literals that look like a code, where they are more than compared with. */
function mentionedIn({ nodes }: Source): readonly string[] {
  return nodes.flatMap((node) => (ts.isStringLiteralLike(node) && isCode(node.text) && !isCompared(node) ? [node.text] : []));
}

function isCompared({ parent }: ts.Node): boolean {
  if (ts.isBinaryExpression(parent)) return /^[!=]==$/.test(parent.operatorToken.getText());
  if (ts.isArrayLiteralExpression(parent)) return ts.isNewExpression(parent.parent); // new Set([…]): asked later
  return ts.isCaseClause(parent) || ts.isLiteralTypeNode(parent);
}

/** By plugin: the plugins whose contract any of its files imports. */
function contractsImported(all: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const found = all.flatMap(({ owner, tree }) =>
    tree.statements.flatMap((statement) => {
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
      const [, other] = /([a-z0-9-]+)\/contract\.ts'$/.exec(statement.moduleSpecifier?.getText() ?? '') ?? [];
      return other ? [[owner, other] as const] : [];
    }),
  );
  return new Map([...Map.groupBy(found, ([owner]) => owner)].map(([owner, pairs]) => [owner, pairs.map(([, other]) => other)]));
}
