import ts from 'typescript';

/** A piece of a source file, from its first to its last character. */
export interface Piece {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Some line of it begins like SQL: fragments that statements share count, too. */
const SQL =
  /(^|\n)[('"`\s]*(WITH|SELECT|INSERT|UPDATE|DELETE|BEGIN|COMMIT|ROLLBACK|SET|RESET|LISTEN|LOCK|CREATE|ALTER|DROP|TRUNCATE)\s/;
/** What TypeORM makes statements of. */
const OF_REPOSITORIES = [
  'find',
  'findOne',
  'findBy',
  'findOneBy',
  'count',
  'createQueryBuilder',
  'save',
  'insert',
  'update',
  'delete',
];

/**
 * Every statement of a source file: each literal that reads like SQL or is given to `query`, and each call of a repository of TypeORM.
 * They are found by what they are, so that nobody has to register one.
 */
export function statementsOf(path: string, source: string): Piece[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true);
  const usesTypeorm = /from '(typeorm|@nestjs\/typeorm)'/.test(source);
  const found: Piece[] = [];
  const visit = (node: ts.Node): void => {
    if (isSqlLiteral(node)) found.push({ name: nameOf(node), start: node.getStart(file), end: node.end });
    else if (usesTypeorm && isRepositoryCall(node))
      found.push({ name: nameOf(node), start: node.getStart(file), end: endOfChain(node) });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Its statements, and its constants, functions and methods: SQL is put together from texts that are no statements. */
export function piecesOf(path: string, source: string): Piece[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true);
  const found = statementsOf(path, source);
  const visit = (node: ts.Node): void => {
    if (isNamedPiece(node)) found.push({ name: node.name?.getText() ?? '', start: node.getStart(file), end: node.end });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isNamedPiece(node: ts.Node): node is ts.VariableDeclaration | ts.FunctionDeclaration | ts.MethodDeclaration {
  return ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
}

function isSqlLiteral(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return false;
  const { parent } = node;
  const isAsked = ts.isCallExpression(parent) && parent.arguments[0] === node && methodOf(parent) === 'query';
  return isAsked || SQL.test(node.getText());
}

/** `this.<repository>.<method>(…)`; lists have methods of the same names, and are no members here. */
function isRepositoryCall(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !OF_REPOSITORIES.includes(methodOf(node))) return false;
  const on = ts.isPropertyAccessExpression(node.expression) ? node.expression.expression : node;
  return ts.isPropertyAccessExpression(on) && on.expression.kind === ts.SyntaxKind.ThisKeyword;
}

function methodOf({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : '';
}

/** Of `a.b().c().d()`, whose first call is given, the end of the last. */
function endOfChain(node: ts.Node): number {
  let { end } = node;
  for (let at = node.parent; ts.isPropertyAccessExpression(at) || ts.isCallExpression(at); at = at.parent) {
    if (ts.isCallExpression(at) && at.expression.end !== end) break;
    end = at.end;
  }
  return end;
}

/** The name that PostgreSQL knows it by; without one, that of the constant of the file or of the function it is in. */
function nameOf(node: ts.Node): string {
  for (let at = node.parent; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isObjectLiteralExpression(at)) {
      const name = at.properties.find((property) => property.name?.getText() === 'name');
      if (name && ts.isPropertyAssignment(name) && ts.isStringLiteralLike(name.initializer))
        return name.initializer.text;
    }
    const isOfFile = ts.isVariableDeclaration(at) && ts.isSourceFile(at.parent.parent.parent);
    if (isOfFile || ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at))
      return (at as ts.NamedDeclaration).name?.getText() ?? 'unnamed';
  }
  return 'unnamed';
}
