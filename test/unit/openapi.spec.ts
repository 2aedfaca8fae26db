import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { STATUS_OF_KIND } from '../../src/platform/http/problem-details.js';
import { PROBLEMS } from '../../src/problems.js';

const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== 'problems.ts')
  .map((file) => readFileSync(`src/${file}`, 'utf8'));
const ALL = SOURCES.join('\n');
const KINDS = {
  InvalidInput: 'invalid',
  NotFound: 'not_found',
  Conflict: 'conflict',
  Unprocessable: 'unprocessable',
  TooMany: 'too_many',
  Unavailable: 'unavailable',
} as const;

it('two schemas of the document never have one name', () => {
  const names = SOURCES.filter((text) => text.includes('@nestjs/swagger')).flatMap((text) =>
    [...text.matchAll(/^(?:export )?class (\w+Dto)\b/gm)].map(([, name]) => name),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

it('every problem that a controller names has its status and texts', () => {
  const known = new Set(Object.values(PROBLEMS).flatMap((codes) => Object.keys(codes)));
  const named = [...ALL.matchAll(/@ApiProblems\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/'(\w+)'/g)].map(([, code = '']) => code),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((code) => !known.has(code))).toEqual([]);
});

it('every problem of the document is thrown, with the status of its error', () => {
  const thrown = new Map<string, Set<number>>();
  for (const [, kind = '', code = ''] of ALL.matchAll(/new (\w+)\(\s*'(\w+)'/g)) {
    if (!(kind in KINDS)) continue;
    const status = STATUS_OF_KIND[KINDS[kind as keyof typeof KINDS]];
    thrown.set(code, (thrown.get(code) ?? new Set()).add(status));
  }
  for (const [status, codes] of Object.entries(PROBLEMS))
    for (const code of Object.keys(codes)) {
      // Some are made by Fastify and Nest: their names follow from their status.
      const isThrown = ALL.includes(`'${code}'`) || code === 'service_unavailable';
      const statuses = thrown.get(code);
      expect([code, isThrown, statuses?.has(Number(status)) ?? true]).toEqual([code, true, true]);
    }
});
