import { describe, expect, it } from '@jest/globals';
import { type CallerLimits, isWithin, limitedTo, mayUse, mayUseChain, NO_LIMITS } from '../../../src/kernel/caller.js';
import { parseAddress } from '../../../src/kernel/hex.js';

const [A, B] = [parseAddress(`0x${'aa'.repeat(20)}`), parseAddress(`0x${'bb'.repeat(20)}`)];
const [A1, B1, A2] = [
  { chainId: 1, address: A },
  { chainId: 1, address: B },
  { chainId: 2, address: A },
];
const ALL = [A1, B1, A2];

const usable = (only: CallerLimits): unknown[] => ALL.filter((signer) => mayUse({ only }, signer));

describe('a caller', () => {
  it('without limits may use every signer', () => {
    expect([usable(NO_LIMITS), mayUseChain({ only: NO_LIMITS }, 1)]).toEqual([ALL, true]);
  });

  it('that is limited to a signer may use it on its chain only', () => {
    const only = limitedTo([A1], null);
    expect([usable(only), mayUseChain({ only }, 1), mayUseChain({ only }, 2)]).toEqual([[A1], true, false]);
  });

  it('that is limited to a chain may use all signers of it', () => {
    const only = limitedTo(null, [1]);
    expect([usable(only), mayUseChain({ only }, 1), mayUseChain({ only }, 2)]).toEqual([[A1, B1], true, false]);
  });

  it('that is limited to signers and to chains may use what is within both', () => {
    expect(usable(limitedTo([A1, A2], [2]))).toEqual([A2]);
    expect(usable(limitedTo([A1], [2]))).toEqual([]);
    expect(mayUseChain({ only: limitedTo([A1], [2]) }, 2)).toBe(false);
  });
});

describe('limits are within others', () => {
  const limits: readonly [string, CallerLimits][] = [
    ['none', NO_LIMITS],
    ['chain 1', limitedTo(null, [1])],
    ['chains 1 and 2', limitedTo(null, [1, 2])],
    ['A on 1', limitedTo([A1], null)],
    ['A on 1 and 2', limitedTo([A1, A2], null)],
    ['nothing', limitedTo([], null)],
  ];
  const wider: Readonly<Record<string, readonly string[]>> = {
    none: ['none'],
    'chain 1': ['none', 'chain 1', 'chains 1 and 2'],
    'chains 1 and 2': ['none', 'chains 1 and 2'],
    'A on 1': ['none', 'chain 1', 'chains 1 and 2', 'A on 1', 'A on 1 and 2'],
    'A on 1 and 2': ['none', 'chains 1 and 2', 'A on 1 and 2'],
    nothing: ['none', 'chain 1', 'chains 1 and 2', 'A on 1', 'A on 1 and 2', 'nothing'],
  };

  it.each(limits)('%s', (name, inner) => {
    expect(limits.filter(([, outer]) => isWithin(inner, outer)).map(([one]) => one)).toEqual(wider[name]);
  });
});
