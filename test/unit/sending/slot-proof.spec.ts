import { describe, expect, it } from '@jest/globals';
import type { AttemptStatus } from '../../../src/modules/ledger/domain/attempt.js';
import { anotherMayBeInPool } from '../../../src/modules/sending/application/send.js';
import { aHash, aSigner } from '../../support/builders.js';

const REFUSED = { signer: aSigner(1), nonce: 5n, txHash: aHash(1) };
const IN_POOL: AttemptStatus[] = ['SIGNED', 'ACCEPTED', 'UNKNOWN', 'MINED', 'LOST'];
const other = (status: AttemptStatus) => ({ ...REFUSED, txHash: aHash(2), status });

describe('a slot whose attempt was refused', () => {
  it.each(IN_POOL)('may have another one in a pool that is %s', (status) => {
    expect(anotherMayBeInPool(REFUSED, [other('REJECTED'), other(status)])).toBe(true);
  });

  it('has no other in a pool when every other one was refused, or never left', () => {
    expect(anotherMayBeInPool(REFUSED, [other('REJECTED'), other('UNSENT')])).toBe(false);
  });

  it('has no other when nothing but the refused attempt itself is known, whatever its row says still', () => {
    expect(anotherMayBeInPool(REFUSED, [{ ...REFUSED, status: 'SIGNED' }])).toBe(false);
  });

  it('has none by an attempt of another nonce or of another signer', () => {
    const strangers = [
      { ...other('ACCEPTED'), nonce: 6n },
      { ...other('ACCEPTED'), signer: aSigner(2) },
    ];
    expect(anotherMayBeInPool(REFUSED, strangers)).toBe(false);
  });
});
