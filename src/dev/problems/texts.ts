import ts from 'typescript';
import type { Source } from './source.js';

/** The properties in which problems are handed on before they are errors. */
const HANDED_ON = new Set(['code', 'detail', 'advice']);

/**
 * What an expression of a text can be, by its type or as it is written: the values of a parameter are those that callers pass. What only a
 * request decides is a name in braces.
 */
export function textsOf(source: Source, node: ts.Node): readonly string[] {
  const texts = (inner: ts.Node): readonly string[] => textsOf(source, inner);
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ expression, literal }) => {
      const [only, ...others] = texts(expression);
      const isKnown = only !== undefined && (others.length === 0 || literalsOf(source, expression).length === 0);
      return `${isKnown ? only : `{${lastName(expression)}}`}${literal.text}`;
    });
    return [`${node.head.text}${spans.join('')}`];
  }
  if (ts.isPropertyAssignment(node)) return texts(node.initializer);
  if (ts.isConditionalExpression(node)) return [...texts(node.whenTrue), ...texts(node.whenFalse)];
  const known = literalsOf(source, node);
  if (known.length > 0) return known;
  const declared = source.declarationOf(node);
  const passed =
    declared !== undefined && ts.isParameter(declared)
      ? source.argumentsFor(declared)
      : declared !== undefined && ts.isPropertySignature(declared) && HANDED_ON.has(declared.name.getText())
        ? source.valuesOf(declared)
        : [];
  return passed.length > 0 ? passed.flatMap(texts) : [`{${lastName(node)}}`];
}

function literalsOf({ checker }: Source, node: ts.Node): string[] {
  const type = checker.getTypeAtLocation(ts.isShorthandPropertyAssignment(node) ? node.name : node);
  const types = type.isUnion() ? type.types : [type];
  const texts = types.flatMap((one) => (one.isStringLiteral() || one.isNumberLiteral() ? [String(one.value)] : []));
  return texts.length === types.length ? texts : [];
}

/** `address` of `signer.address`, of `excerpt(address)` and of `address.join(' or ')`. */
function lastName(node: ts.Node): string {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isIdentifier(node)) return node.text;
  if (!ts.isCallExpression(node)) return '…';
  const { expression, arguments: given } = node;
  const isMethod = ts.isPropertyAccessExpression(expression) && !/^[A-Z]/.test(expression.getText());
  const named = isMethod ? expression.expression : given[0];
  return named === undefined ? '…' : lastName(named);
}
