import { describe, expect, it } from '@jest/globals';
import { floorGas, initCodeGas, intrinsicGas, type PricedParts } from '../../../src/kernel/transaction-gas.js';

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
    expect(intrinsicGas({ ...PLAIN, ...parts })).toBe(gas);
  });

  it('has two more for each word of init code that was begun, and none for call data', () => {
    const code = `0x${'00'.repeat(33)}`;
    expect([initCodeGas({ ...PLAIN, to: null, data: code }), initCodeGas({ ...PLAIN, data: code })]).toEqual([4n, 0n]);
  });

  it('has a floor of ten for each token of call data: a zero is one, another byte four', () => {
    expect(floorGas(PLAIN)).toBe(21_000n);
    expect(floorGas({ ...PLAIN, data: '0x00ff00' })).toBe(21_000n + 60n);
    expect(floorGas({ ...PLAIN, data: `0x${'ff'.repeat(5_000)}` })).toBe(221_000n);
  });
});
