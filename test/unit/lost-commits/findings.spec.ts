import { describe, expect, it } from '@jest/globals';
import type { SentTransaction } from '../../../src/modules/chain/index.js';
import { Findings, mayLack, searchedFrom } from '../../../src/modules/lost-commits/application/findings.js';
import type { SignerOutlook } from '../../../src/modules/ledger/domain/lost-commits.repository.js';
import { aSentTransaction, anOutlook } from '../../support/sent-builders.js';

const aSent = (nonce: bigint): SentTransaction => aSentTransaction({ nonce });
const ofSigner = (overrides: Partial<SignerOutlook> = {}): SignerOutlook => anOutlook({ cursor: 10n, ...overrides });

const anOpen = (nonce: bigint) => ({ nonce, txId: null });

interface Found {
  readonly outlook?: Partial<SignerOutlook>;
  readonly latest?: bigint;
  readonly sent?: readonly bigint[];
}

/** By default nothing is out. */
function found({ outlook, latest = 10n, sent = [] }: Found): Findings {
  return new Findings(ofSigner(outlook), latest, sent.map(aSent), 0n, true, false);
}

describe('what is out of a signer is unknown to the database', () => {
  it('at and above its cursor, and below it where a nonce has no bytes', () => {
    const findings = found({ outlook: { open: [anOpen(7n), anOpen(8n)] }, sent: [6n, 7n, 9n, 10n, 11n] });
    expect(findings.unknown.map(({ nonce }) => nonce)).toEqual([7n, 10n, 11n]);
  });

  it('from the lowest nonce without bytes on', () => {
    expect(searchedFrom(ofSigner())).toBe(10n);
    expect(searchedFrom(ofSigner({ open: [anOpen(8n), anOpen(7n), anOpen(9n)] }))).toBe(7n);
  });

  it('from the lowest nonce in flight on, also when nobody noticed a loss', () => {
    expect(searchedFrom(ofSigner({ inFlightFrom: 4n }))).toBe(4n);
    expect(searchedFrom(ofSigner({ inFlightFrom: 8n, open: [anOpen(7n)] }))).toBe(7n);
    expect(found({ outlook: { inFlightFrom: 4n }, sent: [3n, 4n, 10n] }).unknown.map(({ nonce }) => nonce)).toEqual([
      4n,
      10n,
    ]);
  });

  it('perhaps, when the chain or a pool is above that, or the database is suspect', () => {
    expect(mayLack(ofSigner(), 10n)).toBe(false);
    expect(mayLack(ofSigner(), 11n)).toBe(true);
    expect(mayLack(ofSigner({ open: [anOpen(7n)] }), 8n)).toBe(true);
    expect(mayLack(ofSigner({ suspect: true }), 10n)).toBe(true);
  });
});

describe('something may be out that nobody showed', () => {
  it.each<[string, boolean, Found, bigint]>([
    ['not when the end is the cursor', false, {}, 10n],
    ['when a nonce above the cursor was not found', true, { sent: [10n] }, 12n],
    ['not when all of them were found', false, { sent: [10n, 11n] }, 12n],
    ['when one at or above the end was found in place of one below it', true, { sent: [10n, 12n] }, 12n],
    ['not when one was found twice', true, { sent: [10n, 10n] }, 12n],
    ['not below what the chain has', false, { latest: 12n }, 12n],
    ['when what was found is below what the chain has', true, { latest: 11n, sent: [10n] }, 12n],
    ['when an open nonce was not found', true, { latest: 5n, outlook: { open: [anOpen(7n)] } }, 8n],
    ['not when it was found', false, { latest: 5n, outlook: { open: [anOpen(7n)] }, sent: [7n] }, 8n],
    ['not when the chain is above it', false, { latest: 8n, outlook: { open: [anOpen(7n)] } }, 9n],
    ['when the chain is just at it', true, { latest: 7n, outlook: { open: [anOpen(7n)] } }, 8n],
    ['not when it is not below the end', false, { latest: 5n, outlook: { open: [anOpen(7n)] } }, 7n],
  ])('%s', (_when, lacks, findings, end) => {
    expect(found(findings).lacksBelow(end)).toBe(lacks);
  });
});
