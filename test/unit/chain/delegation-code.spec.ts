import { describe, expect, it } from '@jest/globals';
import { isDelegation } from '../../../src/modules/chain/infrastructure/parse-answer.js';

const TARGET = 'c0'.repeat(20);

describe('the code of an account', () => {
  it.each([
    ['no code', '0x', false],
    ['a delegation', `0xef0100${TARGET}`, true],
    ['a delegation in capitals', `0xEF0100${TARGET.toUpperCase()}`, true],
    ['a contract', '0x6001600c', false],
    ['a longer code with the same start', `0xef0100${TARGET}00`, false],
  ])('%s', (_, code, isOne) => {
    expect(isDelegation(code)).toBe(isOne);
  });

  it('is refused when it is no hex string', () => {
    expect(() => isDelegation(null)).toThrow('code');
  });
});
