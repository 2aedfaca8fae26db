import { describe, expect, it } from '@jest/globals';
import type { AttemptStatus } from '../../../src/modules/ledger/domain/attempt.js';
import { anotherMayBeOut } from '../../../src/modules/sending/application/send.js';
import { aHash, aSigner } from '../../support/builders.js';

const REFUSED = { signer: aSigner(1), nonce: 5n, txHash: aHash(1) };
const OUT: AttemptStatus[] = ['SIGNED', 'ACCEPTED', 'UNKNOWN', 'MINED', 'LOST'];
const other = (status: AttemptStatus) => ({ ...REFUSED, txHash: aHash(2), status });

describe('a slot whose attempt was refused', () => {
  it.each(OUT)('is kept while another attempt of it is %s', (status) => {
    expect(anotherMayBeOut(REFUSED, [other('REJECTED'), other(status)])).toBe(true);
  });

  it('is free when every other attempt of it was refused', () => {
    expect(anotherMayBeOut(REFUSED, [other('REJECTED'), other('REJECTED')])).toBe(false);
  });

  it('is free when nothing but the refused attempt itself is known, whatever its row says still', () => {
    expect(anotherMayBeOut(REFUSED, [{ ...REFUSED, status: 'SIGNED' }])).toBe(false);
  });

  it('is not kept by an attempt of another nonce or of another signer', () => {
    const strangers = [
      { ...other('ACCEPTED'), nonce: 6n },
      { ...other('ACCEPTED'), signer: aSigner(2) },
    ];
    expect(anotherMayBeOut(REFUSED, strangers)).toBe(false);
  });
});
