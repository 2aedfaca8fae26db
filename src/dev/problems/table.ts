import ts from 'typescript';
import { isFn, Source, visit } from './source.js';
import { type ThrownProblem, ThrownProblems } from './thrown.js';

/** Functions of the platform that throw before an operation is called. Which operations they concern is in src/problems.ts. */
const BEFORE = ['RequestValidationPipe.transform', 'tooManyValues', 'shuttingDown'];
/** The methods of what lets requests pass. */
const GUARDS = ['canActivate', 'admitByHeaders'];

/** The content of src/thrown-problems.ts: what is thrown, and by which operation. */
export function problemTable(source = new Source()): string {
  const thrown = new ThrownProblems(source);
  const problems = new Map<string, ThrownProblem>();
  const namesOf = (found: readonly ThrownProblem[]): readonly string[] =>
    found.map((problem) => {
      const name = `${problem.code}_${problem.status}`;
      if (!problems.has(name)) problems.set(name, problem);
      return name;
    });
  const guards: ThrownProblem[] = [];
  const lists = new Map<string, readonly string[]>();
  for (const name of BEFORE) namesOf(thrown.ofFunction(name));
  for (const file of source.files)
    visit(file, (node) => {
      if (!ts.isMethodDeclaration(node) || !isFn(node)) return;
      if (GUARDS.includes(node.name.getText())) guards.push(...thrown.of(node));
      const operation = operationOf(node);
      if (operation !== undefined) lists.set(operation, namesOf(thrown.of(node)));
    });
  lists.set('guards', namesOf(guards));
  if (thrown.unusedExceptions.length > 0)
    throw new Error(`not needed in src/dev/problems/exceptions.ts: ${thrown.unusedExceptions.join(', ')}`);
  return [
    '// Written by `npm run openapi:dump`, from the code that throws. A value that only a request decides is a name in braces.',
    'export const THROWN = {',
    ...sorted(problems).map(([name, problem]) => `  ${name}: ${literal(problem)},`),
    '} as const;',
    '',
    '/** By operation; by any guard. */',
    'export const THROWN_BY: Readonly<Record<string, readonly (keyof typeof THROWN)[]>> = {',
    ...sorted(lists).map(([name, names]) => `  ${name}: ${JSON.stringify([...new Set(names)].sort())},`),
    '};',
    '',
  ].join('\n');
}

function operationOf(method: ts.MethodDeclaration): string | undefined {
  const decorators = ts.getDecorators(method) ?? [];
  const names = decorators.map(
    (decorator) => /^@ApiOperation\(.*?operationId: '(\w+)'/s.exec(decorator.getText())?.[1],
  );
  return names.find((name) => name !== undefined);
}

function sorted<Value>(entries: ReadonlyMap<string, Value>): [string, Value][] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

function literal({ status, code, detail, advice, retryable }: ThrownProblem): string {
  return JSON.stringify({ status, code, detail, advice, retryable });
}
