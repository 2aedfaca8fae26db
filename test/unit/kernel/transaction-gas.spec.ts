import { describe, expect, it } from '@jest/globals';
import { leastGas, type PricedParts } from '../../../src/kernel/transaction-gas.js';

const PLAIN: PricedParts = { to: '0x01', data: '0x', accessList: [] };
const KEY = `0x${'00'.repeat(32)}`;

/* Yellow paper, appendix G, with EIP-2028, EIP-2930, EIP-3860, EIP-7623 and EIP-7702. */
describe('the gas of a transaction before it is executed', () => {
  it.each<[string, Partial<PricedParts>, bigint]>([
    ['a transfer', {}, 21_000n],
    ['call data', { data: '0x0001ff00' }, 21_000n + 2n * 4n + 2n * 16n],
    ['zero bytes that are written across two others', { data: '0x100010' }, 21_000n + 4n + 2n * 16n],
    ['a creation', { to: null, data: '0xfe' }, 53_000n + 16n],
    [
      'an access list',
      { accessList: [{ storageKeys: [KEY, KEY] }, { storageKeys: [] }] },
      21_000n + 2n * 2_400n + 2n * 1_900n,
    ],
    ['authorizations', { authorizationList: [{}, {}] }, 71_000n],
  ])('counts %s', (_what, parts, gas) => {
    expect(leastGas({ ...PLAIN, ...parts }).intrinsic).toBe(gas);
  });

  it('has two more for each word of init code that was begun, from Prague on', () => {
    const least = leastGas({ ...PLAIN, to: null, data: `0x${'00'.repeat(33)}` });
    expect(least).toEqual({ withoutData: 53_000n, intrinsic: 53_132n, prague: 53_136n });
  });

  it.each([
    ['0x', 21_000n],
    ['0x00ff00', 21_000n + 60n],
    [`0x${'00'.repeat(33)}`, 21_000n + 330n],
    [`0x${'ff'.repeat(5_000)}`, 221_000n],
  ])(
    'has a floor of ten for each token of call data, from Prague on: a zero is one, another byte four',
    (data, gas) => {
      expect(leastGas({ ...PLAIN, data })).toMatchObject({ withoutData: 21_000n, prague: gas });
    },
  );
});
