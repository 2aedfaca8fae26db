import { describe, expect, it } from '@jest/globals';
import { ANYONE, type CallerLimits, DEFAULT_ACCOUNT, limitedTo, NO_LIMITS } from '../../../src/kernel/caller.js';
import { DomainError } from '../../../src/kernel/errors.js';
import type { Address } from '../../../src/kernel/hex.js';
import { assertWithin, type Subscriber, wants } from '../../../src/modules/webhooks/domain/webhook-endpoint.js';
import { anAddress } from '../../support/builders.js';
import { aPublicEvent } from './webhook-fakes.js';

const all: Subscriber = {
  id: 'one',
  account: DEFAULT_ACCOUNT,
  callbackOnly: false,
  types: null,
  chainIds: null,
  signers: null,
};
const event = aPublicEvent(1, { type: 'tx.failed', chainId: 7, signer: anAddress(3) });

it.each([
  ['no filter', {}, true],
  ['its type', { types: ['tx.confirmed', 'tx.failed'] }, true],
  ['another type', { types: ['tx.confirmed'] }, false],
  ['its chain', { chainIds: [7] }, true],
  ['another chain', { chainIds: [1] }, false],
  ['its signer', { signers: [anAddress(3)] }, true],
  ['another signer', { signers: [anAddress(1)] }, false],
  ['its type on another chain', { types: ['tx.failed'], chainIds: [1] }, false],
  ['callbacks only', { callbackOnly: true }, false],
] satisfies [string, Partial<Subscriber>, boolean][])(
  'an event and an endpoint with %s: %p gets it: %p',
  (_name, filter, gets) => {
    expect(wants({ ...all, ...filter }, event)).toBe(gets);
  },
);

it('an event of a request that names the endpoint comes to it whatever its filters are', () => {
  const narrow: Subscriber = { ...all, callbackOnly: true, types: ['tx.confirmed'], chainIds: [1] };
  expect(wants(narrow, { ...event, callback: 'one' })).toBe(true);
  expect(wants(narrow, { ...event, callback: 'two' })).toBe(false);
});

describe('the endpoint of a caller that is limited', () => {
  const [A, B] = [anAddress(1), anAddress(2)];
  const made = (only: CallerLimits, chainIds: number[] | null, signers: Address[] | null): string => {
    try {
      assertWithin({ ...ANYONE, only }, { types: null, chainIds, signers });
      return 'made';
    } catch (error) {
      return error instanceof DomainError ? error.code : String(error);
    }
  };

  it('has filters within the limits', () => {
    const ofChains = limitedTo(null, [1, 2]);
    const ofSigners = limitedTo(
      [1, 2].map((chainId) => ({ chainId, address: A })),
      null,
    );
    const filters: [number[] | null, Address[] | null][] = [
      [null, null],
      [[1, 3], null],
      [[1], null],
      [
        [1, 2],
        [A, B],
      ],
      [null, [A]],
      [[1, 2], [A]],
      [[1, 3], [A]],
    ];
    const yes = 'made';
    const no = 'outside_limits';
    expect(filters.map((filter) => made(NO_LIMITS, ...filter))).toEqual(filters.map(() => yes));
    expect(filters.map((filter) => made(ofChains, ...filter))).toEqual([no, no, yes, yes, no, yes, no]);
    expect(filters.map((filter) => made(ofSigners, ...filter))).toEqual([no, no, no, no, no, yes, no]);
  });
});
