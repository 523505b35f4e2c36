import ts from 'typescript';
import { nodesOf, type Source } from './sources.ts';

export type TokenKind = 'service' | 'notify' | 'waterfall' | 'bail';

/** A hook or a service, as its contract declares it and as the bundled plugins use it. */
export interface Token {
  readonly kind: TokenKind;
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** What goes in and what comes out, as text; of a service its type. */
  readonly types: readonly string[];
  readonly doc: string;
  /** The declarations behind those types, where the same file has them. */
  readonly declarations: readonly string[];
}

export type Use = { readonly plugin: string; readonly token: string; readonly stage?: string };
/** `asks` is late (run.get, run.find, run.call); `needs` orders and rebuilds. */
export type Uses = Readonly<Record<'taps' | 'asks' | 'needs' | 'provides' | 'gives', readonly Use[]>>;

const isContract = (file: string) => /^(?:kernel\/points|kernel\/host\/contract|plugins\/[^/]+\/contract)\.ts$/.test(file);

/** Every exported token of the kernel's points, the host and the plugins' contracts. */
export function tokens(all: readonly Source[]): readonly Token[] {
  return all
    .filter(({ file }) => isContract(file))
    .flatMap(({ owner, tree }) => tree.statements.flatMap((one) => tokenOf(one, owner, tree)));
}

function tokenOf(statement: ts.Statement, owner: string, tree: ts.SourceFile): readonly Token[] {
  if (!ts.isVariableStatement(statement)) return [];
  const [declared] = statement.declarationList.declarations;
  const call = declared?.initializer;
  if (!declared || !call || !ts.isCallExpression(call)) return [];
  const kind = call.expression.getText() as TokenKind;
  const [id] = call.arguments;
  if (!['service', 'notify', 'waterfall', 'bail'].includes(kind) || !id || !ts.isStringLiteralLike(id)) return [];
  const given = call.typeArguments ?? [];
  const behind = [...new Set(given.flatMap((type) => typesIn(type, tree)))];
  const own = docOf(statement);
  const teller = own ? undefined : behind.find(docOf); // what the token's text is taken from is not told twice
  const types = given.map((type) => type.getText());
  const declarations = behind.map((one) => tree.text.slice(one.getStart(tree, one !== teller), one.end).replace(/^export /m, ''));
  const doc = own || (teller ? docOf(teller) : '');
  return [{ kind, id: id.text, name: declared.name.getText(), owner, types, doc, declarations }];
}

/** The interfaces and types of this file that a type names. */
function typesIn(type: ts.Node, tree: ts.SourceFile): readonly ts.Statement[] {
  const names = new Set(nodesOf(type).flatMap((node) => (ts.isIdentifier(node) ? [node.text] : [])));
  return tree.statements.filter((one) => (ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) && names.has(one.name.text));
}

const docOf = (node: ts.Node) =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter((part) => ts.isJSDoc(part))
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join('\n');

/** Who does what with which token, by the token's name. */
export function usesOf(all: readonly Source[]): Uses {
  const uses = { taps: [], asks: [], needs: [], provides: [], gives: [] } as { -readonly [K in keyof Uses]: Use[] };
  for (const { owner: plugin, nodes } of all.filter(({ owner }) => owner !== 'testing'))
    for (const node of nodes) {
      if (ts.isCallExpression(node)) {
        const how = callOf(node);
        const [token, , third] = node.arguments;
        if (how && token && ts.isIdentifier(token))
          uses[how].push({ plugin, token: token.text, ...(how === 'taps' && { stage: stageOf(third) }) });
      }
      if (!ts.isPropertyAssignment(node) || !ts.isObjectLiteralExpression(node.initializer) || node.name.getText() !== 'needs') continue;
      for (const need of node.initializer.properties)
        if (ts.isPropertyAssignment(need)) uses.needs.push({ plugin, token: need.initializer.getText() });
    }
  return uses;
}

function callOf({ expression }: ts.CallExpression): keyof Uses | undefined {
  if (ts.isIdentifier(expression)) return expression.text === 'given' ? 'gives' : undefined;
  if (!ts.isPropertyAccessExpression(expression)) return undefined;
  const verbs = { tap: 'taps', get: 'asks', find: 'asks', call: 'asks', provide: 'provides' } as const;
  return verbs[expression.name.text as keyof typeof verbs];
}

function stageOf(options: ts.Expression | undefined): string {
  if (!options) return '0';
  if (!ts.isObjectLiteralExpression(options)) return numberOr(options);
  const stage = options.properties.find((one) => one.name?.getText() === 'stage');
  return stage && ts.isPropertyAssignment(stage) ? numberOr(stage.initializer) : '0';
}

/** A number; else the numbers of `const stages = { … }` in the same file. */
function numberOr(node: ts.Expression): string {
  if (/^-?[\d_]+$/.test(node.getText())) return node.getText();
  const declared = /\bstages = \{([^}]*)\}/.exec(node.getSourceFile().text)?.[1] ?? '';
  return declared.match(/-?\d+/g)?.join(', ') ?? node.getText();
}
