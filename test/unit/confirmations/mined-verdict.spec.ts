import { describe, expect, it } from '@jest/globals';
import { type ReceiptEvidence, minedVerdict } from '../../../src/modules/confirmations/domain/mined-verdict.js';
import { aHash, aReceipt } from '../../support/builders.js';

const [OURS, OTHER] = [aHash(0xb1), aHash(0xb2)];
const RECEIPT = aReceipt({ blockNumber: 10, blockHash: OURS });

/** What is known when everything says the same as the stored receipt. */
const verdict = (known: Partial<ReceiptEvidence>) =>
  minedVerdict(RECEIPT, { canonical: OURS, fresh: RECEIPT, denied: false, ...known });

describe('a MINED tx whose block is deep enough', () => {
  it('is final when its block is canonical, and its receipt says the same again', () => {
    expect(verdict({})).toBe('final');
  });

  it('is final with the same status, whatever else differs', () => {
    expect(verdict({ fresh: { ...RECEIPT, gasUsed: 22_000n } })).toBe('final');
  });

  it('has changed when its receipt has another status by now', () => {
    expect(verdict({ fresh: { ...RECEIPT, status: 'reverted' } })).toBe('changed');
  });

  it('is gone when another block is canonical, also while its receipt cannot be had', () => {
    expect([verdict({ canonical: OTHER }), verdict({ canonical: OTHER, fresh: undefined })]).toEqual(['gone', 'gone']);
  });

  it('is gone when the chain says that it was not mined there, also while its block is not known', () => {
    expect([verdict({ denied: true }), verdict({ denied: true, canonical: undefined })]).toEqual(['gone', 'gone']);
  });

  it('is open while the canonical block is not known, whatever its receipt says', () => {
    expect(verdict({ canonical: undefined })).toBe('open');
  });

  it('is open while its receipt cannot be had', () => {
    expect(verdict({ fresh: undefined })).toBe('open');
  });
});
