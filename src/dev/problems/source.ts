import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A function with a body. */
export type Fn = ts.FunctionLikeDeclaration & { readonly body: ts.Node };
export type Class = ts.ClassLikeDeclaration;
type Type = Class | ts.InterfaceDeclaration;

export function visit(node: ts.Node, each: (node: ts.Node) => void): void {
  each(node);
  ts.forEachChild(node, (child) => visit(child, each));
}

export function isFn(node: ts.Node | undefined): node is Fn {
  return node !== undefined && ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

export function constructorOf(type: Class): Fn | undefined {
  return type.members.flatMap((member) => (ts.isConstructorDeclaration(member) && isFn(member) ? [member] : []))[0];
}

/** `Class.method`, or the name of a function; '' of one without a name. */
export function nameOf({ name, parent }: ts.Node & { readonly name?: ts.Node | undefined }): string {
  const own = name ?? (ts.isVariableDeclaration(parent) ? parent.name : undefined);
  return [ts.isClassLike(parent) ? parent.name : undefined, own].flatMap((node) => node?.getText() ?? []).join('.');
}

/** The source of the service, as the TypeScript compiler understands it. */
export class Source {
  readonly checker: ts.TypeChecker;
  readonly files: readonly ts.SourceFile[];
  private readonly subtypes = new Map<ts.Node, Type[]>();
  private readonly calls = new Map<string, (ts.CallExpression | ts.NewExpression)[]>();
  private readonly fields = new Map<string, ts.ObjectLiteralElement[]>();

  /** @param others files that are read beside those of src/ */
  constructor(others: readonly string[] = []) {
    const config: unknown = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config;
    const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const names = fileNames.filter((file) => file.startsWith(join(ROOT, 'src/')) || others.includes(file));
    const program = ts.createProgram(names, options);
    this.checker = program.getTypeChecker();
    this.files = program.getSourceFiles().filter(({ fileName }) => names.includes(fileName));
    for (const file of this.files) visit(file, (node) => this.note(node));
  }

  /** What a name stands for, also one that was imported. */
  declarationOf(node: ts.Node): ts.Declaration | undefined {
    const symbol = ts.isShorthandPropertyAssignment(node)
      ? this.checker.getShorthandAssignmentValueSymbol(node)
      : this.checker.getSymbolAtLocation(node);
    if (symbol === undefined) return undefined;
    const meant = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    return meant.valueDeclaration ?? meant.declarations?.[0];
  }

  /** The class or the interface of a value; undefined of a value without one. */
  typeOf(node: ts.Node): ts.Declaration | undefined {
    const symbol = this.checker.getTypeAtLocation(node).getSymbol();
    return symbol?.valueDeclaration ?? symbol?.declarations?.[0];
  }

  classOf(node: ts.Node): Class | undefined {
    const declared = this.declarationOf(node);
    return declared !== undefined && ts.isClassLike(declared) ? declared : undefined;
  }

  baseOf({ heritageClauses }: Class): Class | undefined {
    const base = heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
    return base && this.classOf(base.expression);
  }

  /** Its base classes too, nearest first. */
  lineOf(type: Class): Class[] {
    const base = this.baseOf(type);
    return [type, ...(base === undefined ? [] : this.lineOf(base))];
  }

  /** All that extend or implement it. */
  subtypesOf(type: ts.Node): Type[] {
    return (this.subtypes.get(type) ?? []).flatMap((sub) => [sub, ...this.subtypesOf(sub)]);
  }

  /** What callers pass for a parameter. */
  argumentsFor(parameter: ts.ParameterDeclaration): ts.Expression[] {
    const fn = parameter.parent;
    const name = ts.isConstructorDeclaration(fn) ? fn.parent.name : fn.name;
    const index = fn.parameters.indexOf(parameter);
    return (this.calls.get(name?.getText() ?? '') ?? []).flatMap((call) => {
      const argument = call.arguments?.[index];
      return argument !== undefined && this.checker.getResolvedSignature(call)?.declaration === fn ? [argument] : [];
    });
  }

  /** What object literals have in this property. */
  valuesOf(property: ts.PropertySignature): ts.ObjectLiteralElement[] {
    const name = property.name.getText();
    return (this.fields.get(name) ?? []).filter(({ parent }) => {
      const type = ts.isObjectLiteralExpression(parent) ? this.checker.getContextualType(parent) : undefined;
      const types = type?.isUnion() === true ? type.types : [type];
      return types.some((one) => one?.getProperty(name)?.valueDeclaration === property);
    });
  }

  private note(node: ts.Node): void {
    if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node))
      for (const { types } of node.heritageClauses ?? [])
        for (const { expression } of types) add(this.subtypes, this.declarationOf(expression), node);
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const { expression: called } = node;
      const name = ts.isPropertyAccessExpression(called) ? called.name : called;
      if (ts.isIdentifier(name)) add(this.calls, name.text, node);
    }
    if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node))
      add(this.fields, node.name.getText(), node);
  }
}

function add<Key, Item>(lists: Map<Key, Item[]>, key: Key | undefined, item: Item): void {
  if (key === undefined) return;
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
