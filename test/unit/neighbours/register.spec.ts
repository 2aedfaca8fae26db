import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { ELSEWHERE } from '../../neighbours/elsewhere.js';
import { REGISTER } from '../../neighbours/register.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** What makes a class a list, a batch or a worker: one of the mechanisms of docs/invariants.md (I15), a timer, a queue, or work for many signers. */
const MAKES = [
  /new (Turns|Portion|BatchedAsk|SerialWorkers|AtMost)\b/,
  /tickers\.create\(/,
  /this\.work\.run\(/,
  /\bwaiting\.(push|set)\(/,
];
const BASES: ReadonlySet<string> = new Set(['ChainScheduler', 'Housekeeping', 'AtMost']);
/** A statement that reads a page of rows whose time has come. */
const READS_A_PAGE = /LIMIT \(?(\$\d|\w+\.(room|most)|\d{2,})/;
const IS_DUE = /(_at|_until|READY_SINCE\})\)? *<=? *(statement_timestamp|clock_timestamp)\(\)/;

function namesIn(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((statement): string[] => {
    if (ts.isClassDeclaration(statement)) return isList(statement) ? [statement.name?.text ?? ''] : [];
    if (!ts.isVariableStatement(statement)) return [];
    const dueLists = statement.declarationList.declarations.filter(readsDueRows);
    return dueLists.map(({ name }) => `${path.basename(file, '.ts')}/${name.getText()}`);
  });
}

function isList(declaration: ts.ClassDeclaration): boolean {
  const base = declaration.heritageClauses?.[0]?.types[0]?.expression.getText() ?? '';
  return (
    BASES.has(base) ||
    (!BASES.has(declaration.name?.text ?? '') && MAKES.some((made) => made.test(declaration.getText())))
  );
}

function readsDueRows({ initializer }: ts.VariableDeclaration): boolean {
  const text = initializer && ts.isObjectLiteralExpression(initializer) ? initializer.getText() : '';
  return READS_A_PAGE.test(text) && IS_DUE.test(text);
}

const inProduct = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('dev'))
  .flatMap((file) => namesIn(file, readFileSync(path.join(ROOT, 'src', file), 'utf8')));
const registered = new Set([...REGISTER, ...ELSEWHERE].flatMap(({ parts }) => parts));
const unregistered = (names: readonly string[]): string[] =>
  names.filter((name) => !registered.has(name)).map((name) => `${name} is in no entry of test/neighbours/register.ts`);

describe('the register of lists, batches and workers', () => {
  it('has each that the product has', () => {
    expect(unregistered(inProduct)).toEqual([]);
  });

  it('has none that the product has not', () => {
    expect([...registered].filter((name) => !inProduct.includes(name))).toEqual([]);
  });

  it('says for each where what it does to neighbours is shown', () => {
    expect(ELSEWHERE.filter(({ shownBy }) => !existsSync(path.join(ROOT, shownBy)))).toEqual([]);
  });

  it.each([
    ['Forgotten', `class Forgotten { readonly turns = new Turns<Item>(5, actorOf); }`],
    ['Forgotten', `class Forgotten extends ChainScheduler {}`],
    ['Forgotten', `class Forgotten { constructor(tickers: Tickers) { tickers.create({ name: 'forgotten' }); } }`],
    [
      'planted/DUE',
      `export const DUE = { text: 'SELECT * FROM t WHERE t.due_at <= clock_timestamp() ORDER BY t.due_at LIMIT $1' };`,
    ],
  ])('notices a new one: %s', (name, text) => {
    expect(unregistered(namesIn('planted.ts', text))).toEqual([
      `${name} is in no entry of test/neighbours/register.ts`,
    ]);
  });
});
