import { describe, expect, it } from '@jest/globals';
import { lockedTables } from '../../../src/platform/database/large-tables.js';
import { migrationFiles, migrationSql } from '../../../src/platform/database/migrations.js';

/** Tables of the first migrations; one that is made later is empty then. */
const MADE = /CREATE TABLE (\w+)/g;
/**
 * Statements that read or rebuild a whole table while they lock it. Not `SET (fillfactor = …)`, nor what is dropped (a column may be null from now on), nor a
 * constraint that is NOT VALID, nor a column without a check whose default is the same for all rows: these change the catalogue only.
 */
const LOCKS = [
  /ALTER TABLE (\w+)\s+(?!SET \(|DROP |ALTER COLUMN \w+ DROP NOT NULL|ADD CONSTRAINT [^;]*NOT VALID|ADD COLUMN (?![^;]*(?:CHECK|\w\())[^;]*;)/g,
  /CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/g,
];

const named = (pattern: RegExp, sql: string): string[] => [...sql.matchAll(pattern)].flatMap(([, name]) => name ?? []);
const withoutComments = (sql: string): string => sql.replaceAll(/--.*$/gm, '');

describe('a migration', () => {
  it.each(migrationFiles().map((base, index) => [base, index] as const))(
    '%s says in a comment `-- locks:` which tables it locks while it reads all of them',
    (base, index) => {
      const sql = migrationSql(base, 'up');
      const known = migrationFiles()
        .slice(0, index)
        .flatMap((earlier) => named(MADE, migrationSql(earlier, 'up')));
      const locked = LOCKS.flatMap((pattern) => named(pattern, withoutComments(sql))).filter((name) =>
        known.includes(name),
      );
      expect(lockedTables(sql)).toEqual(expect.arrayContaining(locked));
    },
  );

  it('says so of the checks of a domain, too: they read every column of it', () => {
    expect(lockedTables(migrationSql('1763712000002-cheaper-writes', 'up'))).toContain('managed_tx');
  });
});
