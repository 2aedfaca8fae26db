import { describe, expect, it } from '@jest/globals';
import {
  Conflict,
  InvalidInput,
  InvariantViolation,
  messageOf,
  NotFound,
  TooMany,
  Unavailable,
  Unprocessable,
} from '../../../src/kernel/errors.js';

describe('a broken rule', () => {
  it.each([
    [InvalidInput, 'invalid', false, null],
    [NotFound, 'not_found', false, null],
    [Conflict, 'conflict', false, null],
    [Unprocessable, 'unprocessable', false, null],
    [TooMany, 'too_many', true, 1],
    [Unavailable, 'unavailable', true, null],
  ] as const)(
    'of %p says what it is and whether another try makes sense',
    (Rule, kind, retryable, retryAfterSeconds) => {
      const error = new Rule('some_code', 'what is wrong', 'what to do', { id: 7 }, { cause: 'the cause' });
      expect(error).toMatchObject({ kind, retryable, retryAfterSeconds });
      expect(error).toMatchObject({
        code: 'some_code',
        message: 'what is wrong',
        advice: 'what to do',
        facts: { id: 7 },
      });
      expect(error).toMatchObject({ name: Rule.name, cause: 'the cause' });
      expect(new Rule('some_code', '', '').facts).toEqual({});
    },
  );

  it('of our own code is a bug, and never the fault of the caller', () => {
    expect(new InvariantViolation('a bug', { id: 7 })).toMatchObject({
      kind: 'internal',
      code: 'internal_error',
      message: 'a bug',
      advice: 'report this: an internal rule of Lockstep was about to be broken, and nothing was written',
      facts: { id: 7 },
      retryable: false,
    });
    expect(new InvariantViolation('a bug').facts).toEqual({});
  });
});

it('anything that was thrown has a message', () => {
  expect(messageOf(new Error('a bug'))).toBe('a bug');
  expect(messageOf('a text')).toBe('a text');
  expect(messageOf(undefined)).toBe('undefined');
});
