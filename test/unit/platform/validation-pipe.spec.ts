import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsObject, IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import { InvalidRequest } from '../../../src/platform/http/invalid-request.js';
import { RequestValidationPipe } from '../../../src/platform/http/validation-pipe.js';
import type { Violation } from '../../../src/platform/http/problem-details.js';

let looks = 0;
/** Counts how often it is asked. */
const Looked = (options = {}): PropertyDecorator =>
  ValidateBy({ name: 'looked', validator: { validate: (value) => (looks += 1) > 0 && value === 1 } }, options);

class LineDto {
  @Looked({ context: { code: 'no_one' }, message: 'x'.repeat(301) })
  one!: number;
}

class NoteDto {
  @IsOptional()
  @IsObject()
  facts?: object;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @ValidateNested({ each: true })
  @Type(() => LineDto)
  lines?: LineDto[];

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(3)
  @Looked({ each: true })
  numbers?: number[];
}

class PageDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  limit?: number;
}

const PIPE = new RequestValidationPipe();

function mistakesOf(work: () => unknown): readonly Violation[] {
  looks = 0;
  try {
    work();
  } catch (error) {
    if (error instanceof InvalidRequest) return error.errors;
    throw error;
  }
  return [];
}
const mistakesIn = (body: unknown): readonly Violation[] => mistakesOf(() => PIPE.read(NoteDto, body));

describe('what a request costs', () => {
  it('is no look at the items of a list that is too long', () => {
    const wide = new Array(350_000).fill({});
    expect(mistakesIn({ lines: wide, numbers: wide })).toMatchObject([{ path: 'lines' }, { path: 'numbers' }]);
    expect(looks).toBe(0);
  });

  it('ends with the fiftieth mistake', () => {
    const mistakes = mistakesIn({ lines: new Array(100).fill({ one: 2 }) });
    expect([mistakes.length, looks]).toEqual([50, 50]);
    const unknown = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`f${i}`, 1]));
    expect(mistakesIn({ ...unknown, numbers: [1] })).toHaveLength(50);
    expect(looks).toBe(0);
  });

  it('is one look at each value before its rules', () => {
    let reads = 0;
    const facts = {
      get a() {
        return (reads += 1);
      },
    };
    expect(mistakesIn({ facts })).toEqual([]);
    expect(reads).toBe(1);
  });

  it('is a query of a hundred parameters at most', () => {
    const query = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, '1']));
    const read = (count: number): unknown => PIPE.transform(query(count), { type: 'query', metatype: PageDto });
    expect(mistakesOf(() => read(100))).toHaveLength(50);
    expect(() => read(101)).toThrow(expect.objectContaining({ code: 'too_many_parameters' }));
  });
});

describe('a mistake in a request', () => {
  it('has the whole path of its field, the code of its rule, and not more than a few words', () => {
    expect(mistakesIn({ lines: [{ one: 1 }, { one: 2 }] })).toEqual([
      { path: 'lines[1].one', code: 'no_one', message: `${'x'.repeat(299)}…` },
    ]);
    expect(mistakesIn({ lines: [{}, { one: 1, [`y`.repeat(81)]: 1 }] })).toEqual([
      { path: 'lines[0].one', code: 'missing_field', message: 'lines[0].one is missing' },
      expect.objectContaining({ path: `lines[1].${'y'.repeat(79)}…`, code: 'unknown_field' }),
    ]);
  });

  it('is a field that hides the class of an object', () => {
    const mistake = expect.objectContaining({ path: 'constructor', code: 'unknown_field' });
    expect(mistakesIn({ constructor: null, lines: [{ one: 1 }] })).toEqual([mistake]);
  });

  it('is no object where one belongs', () => {
    expect(mistakesIn([])).toEqual([{ path: '', code: 'invalid_field', message: 'the body must be an object' }]);
    expect(mistakesIn({ lines: [1] })).toMatchObject([{ path: 'lines[0]', code: 'invalid_field' }]);
    expect(mistakesIn(null)).toMatchObject([{ message: 'the body must be an object' }]);
  });

  const texts: [string, string][] = [
    ['NUL', 'a\0'],
    ['half of a surrogate pair', '\ud800'],
  ];
  it.each(texts)(
    'is a text with %s, in any place of a body, a query or a path: PostgreSQL cannot store it',
    (_words, text) => {
      const mistake = (path: string) => [expect.objectContaining({ path, code: 'invalid_text' })];
      expect(mistakesIn({ facts: { a: [{ b: text }] } })).toEqual(mistake('facts.a[0].b'));
      expect(mistakesIn({ facts: { [text]: 1 } })).toEqual(mistake(`facts.${text}`));
      expect(mistakesOf(() => PIPE.transform({ limit: text }, { type: 'query', metatype: PageDto }))).toEqual(
        mistake('limit'),
      );
      expect(mistakesOf(() => PIPE.transform(text, { type: 'param', metatype: String }))).toEqual(mistake(''));
      expect(mistakesIn({ facts: { smile: '😀' } })).toEqual([]);
    },
  );

  it('is a number that is too large for JavaScript, in any place of a body: it would be stored as null', () => {
    const mistake = (path: string) => [expect.objectContaining({ path, code: 'invalid_number' })];
    expect(mistakesIn(JSON.parse('{"facts":{"a":[{"b":1e400}]}}'))).toEqual(mistake('facts.a[0].b'));
    expect(mistakesIn(JSON.parse('{"facts":-1e400}'))).toEqual(mistake('facts'));
    expect(mistakesIn({ facts: { a: Number.MAX_VALUE, b: -Number.MAX_VALUE } })).toEqual([]);
  });
});

describe('a name of a query that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is not a known field', (name) => {
    const query: unknown = Object.assign(Object.create(null), JSON.parse(`{"limit":"7","${name}":"1"}`));
    expect(mistakesOf(() => PIPE.transform(query, { type: 'query', metatype: PageDto }))).toMatchObject([
      { path: name, code: 'unknown_field' },
    ]);
  });
});

it('numbers of a query are numbers, and what is no DTO passes', () => {
  expect(PIPE.transform({ limit: '7' }, { type: 'query', metatype: PageDto })).toEqual({ limit: 7 });
  expect(PIPE.transform({ any: 1 }, { type: 'body', metatype: Object })).toEqual({ any: 1 });
  expect(PIPE.transform('id', { type: 'param', metatype: String })).toBe('id');
});

it.each(['', ' ', '0x10', '1e1', '1.0', '+1', ' 1', 'true'])('%p is no number of a query', (text) => {
  expect(mistakesOf(() => PIPE.transform({ limit: text }, { type: 'query', metatype: PageDto }))).toMatchObject([
    { path: 'limit', code: 'invalid_field' },
  ]);
});
