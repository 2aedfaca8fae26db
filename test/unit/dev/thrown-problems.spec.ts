import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Source } from '../../../src/dev/problems/source.js';
import { problemTable } from '../../../src/dev/problems/table.js';
import { ThrownProblems } from '../../../src/dev/problems/thrown.js';

describe('what an operation can throw', () => {
  // To read all source takes seconds: once is enough.
  const source = new Source([fileURLToPath(new URL('./toy-use-case.ts', import.meta.url))]);

  it('is in src/thrown-problems.ts as the code has it, and no exception is idle (npm run openapi:dump)', () => {
    expect(readFileSync('src/thrown-problems.ts', 'utf8')).toBe(problemTable(source));
  });

  it('is followed through ports to their adapters, without what a catch keeps or what nobody waits for', () => {
    expect(new ThrownProblems(source).ofFunction('ToyUseCase.execute')).toEqual([
      expect.objectContaining({ status: 409, code: 'toy_refused', detail: 'no place for {id}', retryable: false }),
    ]);
  });

  it('has the texts that are written where it is thrown', () => {
    const found = new ThrownProblems(source).ofFunction('ToyUseCase.count');
    expect(found.map(({ status, code, detail, retryable }) => [status, code, detail, retryable])).toEqual([
      [409, 'toy_refused', 'no place for {id}', false],
      [429, 'toy_full', 'the store has 3 items', true],
      [503, 'toy_busy', 'busy with {by}', true],
    ]);
  });
});
