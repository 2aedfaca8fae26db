import { describe, expect, it } from '@jest/globals';
import { contractOf } from '../../../src/modules/ledger/application/views/contract-of.js';
import { contractAddress } from '../../../src/platform/crypto/contract-address.js';
import { anAddress, aSigner } from '../../support/builders.js';

const CREATION = { signer: aSigner(), to: null, nonce: 7n, state: 'IN_MEMPOOL', isHold: false } as const;

describe('the contract of a tx', () => {
  it('has its address as soon as the nonce is known', () => {
    expect(contractOf(CREATION)).toBe(contractAddress(aSigner().address, 7n));
    expect(contractOf({ ...CREATION, nonce: null })).toBeNull();
  });

  it('does not exist when the tx has a receiver', () => {
    expect(contractOf({ ...CREATION, to: anAddress(2) })).toBeNull();
  });

  it('does not exist for a hold, whose payload nobody knows', () => {
    expect(contractOf({ ...CREATION, isHold: true })).toBeNull();
  });

  it.each(['FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'] as const)('does not exist when the tx is %s', (state) => {
    expect(contractOf({ ...CREATION, state })).toBeNull();
  });
});
