import type { ValidationError } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { violationsOf } from '../../../src/platform/http/violations.js';

const mistake = (error: Partial<ValidationError>): ValidationError => ({ property: 'field', value: 1, ...error });

describe('what is wrong with a request', () => {
  it('is one thing for each field: the first of its rules that is broken', () => {
    // class-validator names the last decorator first.
    const constraints = { max: 'field must not be above 5', isInt: 'field must be an integer' };
    expect(violationsOf([mistake({ constraints })])).toEqual([
      { path: 'field', code: 'invalid_field', message: 'field must be an integer' },
    ]);
  });

  it('has the code of the rule that is broken, where it has one', () => {
    const constraints = { isQuantity: 'field must be a number' };
    const contexts = { isQuantity: { code: 'invalid_quantity' }, other: { code: 'other' } };
    expect(violationsOf([mistake({ constraints, contexts })])).toMatchObject([{ code: 'invalid_quantity' }]);
    expect(violationsOf([mistake({ constraints, contexts: { isQuantity: { code: 7 } } })])).toMatchObject([
      { code: 'invalid_field' },
    ]);
  });

  it('is that a field is missing, or that there should be an object', () => {
    const missing = { value: undefined, constraints: { isString: 'field must be a string' } };
    const noObject = { value: undefined, constraints: { isObject: 'field must be an object' } };
    expect(violationsOf([mistake(missing), mistake(noObject)])).toEqual([
      { path: 'field', code: 'missing_field', message: 'field is missing' },
      { path: 'field', code: 'invalid_field', message: 'field must be an object' },
    ]);
  });

  it('is named with its whole path, and a parent is not named for its children', () => {
    const child = mistake({ property: 'value', constraints: { whitelistValidation: 'no' } });
    const list = mistake({ property: '0', children: [child] });
    expect(violationsOf([mistake({ property: 'items', children: [list] })])).toEqual([
      { path: 'items[0].value', code: 'unknown_field', message: 'items[0].value is not a known field' },
    ]);
  });

  it('is a page of fifty at most, with short names and words', () => {
    const many = Array.from({ length: 51 }, () =>
      mistake({ property: 'x'.repeat(81), constraints: { isInt: 'y'.repeat(301) } }),
    );
    const found = violationsOf(many);
    expect([found.length, found[0]]).toEqual([
      50,
      { path: `${'x'.repeat(79)}…`, code: 'invalid_field', message: `${'y'.repeat(299)}…` },
    ]);
    const fitting = { property: 'x'.repeat(80), constraints: { isInt: 'y'.repeat(300) } };
    expect(violationsOf([mistake(fitting)])).toMatchObject([{ path: 'x'.repeat(80), message: 'y'.repeat(300) }]);
  });
});
