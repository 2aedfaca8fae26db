import ts from 'typescript';
import { STATUS_OF_KIND } from '../../platform/http/problem-details.js';
import { NOT_ANSWERED, NOT_FOLLOWED, SETTLED_BY } from './exceptions.js';
import { type Class, constructorOf, type Fn, isFn, nameOf, type Source, visit } from './source.js';
import { textsOf } from './texts.js';

/** A problem as the code writes it. */
export interface ThrownProblem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly advice: string;
  readonly retryable: boolean;
}

interface Thrown extends ThrownProblem {
  readonly type: Class;
}
type Passes = (thrown: Thrown) => boolean;
/** What happens in a function, with what the `catch` around it lets pass. */
type Effect = { readonly passes: Passes } & ({ readonly thrown: Thrown } | { readonly called: Fn });

const ALL: Passes = () => true;
const NOTHING: Passes = () => false;
/** What they are given runs later, for nobody who waits. */
const LATER = new Set(['setTimeout', 'setImmediate', 'setInterval', 'on', 'once']);

/**
 * Which domain errors can leave a function: those that are made in it, and those of all that it calls, through abstract classes to what
 * implements them, without what a `catch` keeps. Of what is not waited for (`void`, timers) nothing counts.
 */
export class ThrownProblems {
  private readonly effects = new Map<Fn, readonly Effect[]>();
  private readonly made = new Map<ts.Node, readonly Thrown[]>();
  private readonly named = new Map<string, Fn>();
  private readonly used = new Set<string>();

  constructor(private readonly source: Source) {
    for (const file of source.files) visit(file, (node) => isFn(node) && this.named.set(nameOf(node), node));
  }

  /** The exceptions that made no difference. */
  get unusedExceptions(): readonly string[] {
    return Object.keys({ ...NOT_FOLLOWED, ...SETTLED_BY, ...NOT_ANSWERED }).filter((name) => {
      const through = NOT_ANSWERED[name]?.unlessThrough;
      return !this.used.has(name) || (through !== undefined && !this.named.has(through));
    });
  }

  ofFunction(name: string): readonly ThrownProblem[] {
    const root = this.named.get(name);
    if (root === undefined) throw new Error(`there is no function ${name}`);
    return this.of(root);
  }

  of(root: Fn): readonly ThrownProblem[] {
    const all = this.reachable(root);
    const leaving = new Map<Fn, Set<Thrown>>(all.map((fn) => [fn, new Set()]));
    for (let grows = true; grows;) {
      grows = false;
      for (const fn of all) {
        const own = leaving.get(fn) ?? new Set();
        const before = own.size;
        for (const effect of this.effectsOf(fn))
          for (const thrown of 'thrown' in effect ? [effect.thrown] : (leaving.get(effect.called) ?? []))
            if (effect.passes(thrown)) own.add(thrown);
        grows ||= own.size > before;
      }
    }
    const names = new Set(all.map(nameOf));
    const found = [...(leaving.get(root) ?? [])].filter(({ status, code }) => {
      const { unlessThrough = null } = NOT_ANSWERED[`${code}_${status}`] ?? { unlessThrough: nameOf(root) };
      const isAnswered = unlessThrough !== null && names.has(unlessThrough);
      if (!isAnswered) this.used.add(`${code}_${status}`);
      return isAnswered;
    });
    return found.map(({ type: _type, ...problem }) => problem);
  }

  private reachable(root: Fn): Fn[] {
    const found = new Set([root]);
    for (const fn of found) for (const effect of this.effectsOf(fn)) if ('called' in effect) found.add(effect.called);
    // What is called comes first, so that few rounds are needed.
    return [...found].reverse();
  }

  private effectsOf(fn: Fn): readonly Effect[] {
    const known = this.effects.get(fn);
    if (known !== undefined) return known;
    const effects: Effect[] = [];
    this.effects.set(fn, effects);
    const name = nameOf(fn);
    const settler = SETTLED_BY[name]?.by;
    const settling = settler === undefined ? undefined : this.named.get(settler);
    if (settling !== undefined || NOT_FOLLOWED[name] !== undefined) this.used.add(name);
    if (NOT_FOLLOWED[name] !== undefined) return effects;
    for (const { initializer } of fn.parameters) if (initializer) this.walk(initializer, ALL, effects);
    this.walk(fn.body, ALL, effects);
    if (settling !== undefined) effects.push({ called: settling, passes: ALL });
    return effects;
  }

  private walk(node: ts.Node, passes: Passes, effects: Effect[]): void {
    const go = (inner: ts.Node | undefined, through = ALL): void => {
      if (inner) this.walk(inner, through === ALL ? passes : (thrown) => passes(thrown) && through(thrown), effects);
    };
    if (ts.isVoidExpression(node) || ts.isTypeNode(node) || ts.isClassLike(node)) return;
    if (ts.isTryStatement(node)) {
      const { catchClause } = node;
      go(node.tryBlock, catchClause && this.passing(catchClause.variableDeclaration?.name, catchClause.block));
      go(catchClause);
      go(node.finallyBlock);
    } else if (ts.isCallExpression(node)) {
      this.call(node, passes, effects);
    } else if (ts.isNewExpression(node)) {
      const type = this.source.classOf(node.expression);
      const called = type && constructorOf(type);
      if (type !== undefined && this.isDomainError(type))
        for (const thrown of this.thrownBy(node, type)) effects.push({ thrown, passes });
      else if (called !== undefined) effects.push({ called, passes });
      node.arguments?.forEach((argument) => go(argument));
    } else if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) || ts.isShorthandPropertyAssignment(node)) {
      // A function by its name (`map(toView)`), or a getter.
      for (const called of this.bodiesOf(this.source.declarationOf(node))) effects.push({ called, passes });
      if (ts.isPropertyAccessExpression(node)) go(node.expression);
    } else {
      ts.forEachChild(node, (child) => go(child));
    }
  }

  private call(node: ts.CallExpression, passes: Passes, effects: Effect[]): void {
    const { expression: called, arguments: given } = node;
    const on = ts.isPropertyAccessExpression(called) ? called : undefined;
    const name = on?.name.text ?? called.getText();
    if (on !== undefined && name === 'catch' && given[0] !== undefined) {
      const handler = given[0];
      const through = isFn(handler) ? this.passing(handler.parameters[0]?.name, handler.body) : NOTHING;
      this.walk(on.expression, (thrown) => passes(thrown) && through(thrown), effects);
    } else {
      const declared = this.source.checker.getResolvedSignature(node)?.declaration;
      const receiver = on && this.source.typeOf(on.expression);
      for (const fn of this.bodiesOf(declared, receiver)) effects.push({ called: fn, passes });
      if (declared === undefined || on !== undefined) this.walk(on?.expression ?? called, passes, effects);
    }
    for (const argument of given) if (!LATER.has(name)) this.walk(argument, passes, effects);
  }

  /** What runs when this is called on a `receiver`: itself, and what its subclasses have in its place. */
  private bodiesOf(declared: ts.Node | undefined, receiver?: ts.Node): Fn[] {
    if (declared === undefined || ts.isSourceFile(declared)) return [];
    if (ts.isVariableDeclaration(declared)) return isFn(declared.initializer) ? [declared.initializer] : [];
    const own = isFn(declared) ? [declared] : [];
    const { parent } = declared;
    if (!ts.isClassLike(parent) && !ts.isInterfaceDeclaration(parent)) return own;
    if (!ts.isMethodDeclaration(declared) && !ts.isMethodSignature(declared)) return own;
    const name = declared.name.getText();
    const isType = receiver !== undefined && (ts.isClassLike(receiver) || ts.isInterfaceDeclaration(receiver));
    const others = this.source
      .subtypesOf(isType ? receiver : parent)
      .flatMap(({ members }) => [...members])
      .flatMap((member: ts.Node) => (isFn(member) && member.name?.getText() === name ? [member] : []));
    return [...own, ...others];
  }

  /** What a `catch` throws again: nothing, or all but the classes that it asks for. */
  private passing(caught: ts.Node | undefined, handler: ts.Node): Passes {
    const name = caught?.getText();
    const kept: ts.Node[] = [];
    const again: ts.Node[] = [];
    visit(handler, (node) => {
      if (ts.isThrowStatement(node)) {
        const { expression } = node;
        const given = ts.isCallExpression(expression) ? expression.arguments : [expression];
        if (ts.isConditionalExpression(expression) || given.some((one) => one.getText() === name)) again.push(node);
      }
      if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
        const condition = ts.isIfStatement(node) ? node.expression : node.condition;
        const asked = ts.isPrefixUnaryExpression(condition) ? condition.operand : condition;
        const test = ts.isParenthesizedExpression(asked) ? asked.expression : asked;
        const isTest = ts.isBinaryExpression(test) && test.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
        const type = isTest && test.left.getText() === name ? this.source.classOf(test.right) : undefined;
        // What is done besides (a count, a log line) keeps nothing.
        const decides =
          asked !== condition || !ts.isIfStatement(node) || node.elseStatement !== undefined || leaves(node);
        if (type !== undefined && decides) kept.push(type);
      }
    });
    if (again.length === 0) return NOTHING;
    return ({ type }) => !this.source.lineOf(type).some((one) => kept.includes(one));
  }

  private isDomainError(type: Class): boolean {
    return this.source.lineOf(type).some(({ name }) => name?.text === 'DomainError');
  }

  private thrownBy(node: ts.NewExpression, type: Class): readonly Thrown[] {
    const known = this.made.get(node);
    if (known !== undefined) return known;
    const [codes = [], details = [], advices = []] = this.textsOfError(type, node.arguments ?? []);
    const status = STATUS_OF_KIND[this.fieldOf(type, 'kind') as keyof typeof STATUS_OF_KIND];
    const retryable = this.fieldOf(type, 'retryable') === 'true';
    const made = codes.map((code, index) => {
      const [detail = '', advice = ''] = [details[index] ?? details[0], advices[index] ?? advices[0]];
      return { type, status, code, detail, advice, retryable };
    });
    this.made.set(node, made);
    return made;
  }

  /** Its code, its detail and its advice, from what reaches the constructor of DomainError. */
  private textsOfError(type: Class, given: readonly ts.Expression[]): (readonly string[])[] {
    const own = constructorOf(type);
    const base = this.source.baseOf(type);
    if (base === undefined) return given.slice(0, 3).map((argument) => textsOf(this.source, argument));
    if (own === undefined) return this.textsOfError(base, given);
    const passed: ts.Expression[] = [];
    visit(own.body, (node) => {
      if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword)
        passed.push(...node.arguments);
    });
    return this.textsOfError(base, passed);
  }

  private fieldOf(type: Class, name: string): string | undefined {
    const field = this.source
      .lineOf(type)
      .flatMap(({ members }) => members.filter((member) => ts.isPropertyDeclaration(member)))
      .find((member) => member.name.getText() === name && member.initializer);
    return field?.initializer?.getText().replaceAll("'", '');
  }
}

/** Whether a branch ends its function, or throws. */
function leaves({ thenStatement }: ts.IfStatement): boolean {
  let found = false;
  visit(thenStatement, (node) => (found ||= ts.isReturnStatement(node) || ts.isThrowStatement(node)));
  return found;
}
