import { beforeEach, describe, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import { parseHex } from '../../../src/kernel/hex.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { SentTransaction } from '../../../src/modules/chain/index.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import { Findings, lowestUnknown, mayLack } from '../../../src/modules/lost-commits/application/findings.js';
import { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import type { SignerOutlook } from '../../../src/modules/lost-commits/domain/lost-commits.repository.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aHash, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const SIGNER = aSigner(1);
const OTHER = aSigner(2);

function aSent(nonce: bigint): SentTransaction {
  const fees = { gasLimit: 21_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
  const payload = { to: null, value: 0n, data: parseHex('0x'), accessList: [] };
  return { account: SIGNER.address, nonce, hash: aHash(nonce), raw: parseHex('0x'), ...payload, ...fees };
}

/** A signer whose cursor is at 10 in a database that may have lost commits. */
function anOutlook(overrides: Partial<SignerOutlook> = {}): SignerOutlook {
  return { signer: SIGNER, cursor: 10n, open: [], known: true, suspect: false, ...overrides };
}

const anOpen = (nonce: bigint) => ({ nonce, txId: null });

interface Found {
  readonly outlook?: Partial<SignerOutlook>;
  readonly latest?: bigint;
  readonly sent?: readonly bigint[];
  readonly hiddenBelow?: bigint;
  readonly shown?: boolean;
  readonly unread?: boolean;
}

/** By default nothing is out, and a pool was shown whole. */
function found({ outlook, latest = 10n, sent = [], hiddenBelow = 0n, shown = true, unread = false }: Found): Findings {
  return new Findings(anOutlook(outlook), latest, sent.map(aSent), hiddenBelow, shown, unread);
}

describe('what is out of a signer is unknown to the database', () => {
  it('at and above its cursor, and below it where a nonce has no bytes', () => {
    const findings = found({ outlook: { open: [anOpen(7n), anOpen(8n)] }, sent: [6n, 7n, 9n, 10n, 11n] });
    expect(findings.unknown.map(({ nonce }) => nonce)).toEqual([7n, 10n, 11n]);
  });

  it('from the lowest nonce without bytes on', () => {
    expect(lowestUnknown(anOutlook())).toBe(10n);
    expect(lowestUnknown(anOutlook({ open: [anOpen(8n), anOpen(7n), anOpen(9n)] }))).toBe(7n);
  });

  it('perhaps, when the chain or a pool is above that, or the database is suspect', () => {
    expect(mayLack(anOutlook(), 10n)).toBe(false);
    expect(mayLack(anOutlook(), 11n)).toBe(true);
    expect(mayLack(anOutlook({ open: [anOpen(7n)] }), 8n)).toBe(true);
    expect(mayLack(anOutlook({ suspect: true }), 10n)).toBe(true);
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

describe('a signer of which not all is known', () => {
  let clock: FakeClock;
  let held: HeldSigners;

  beforeEach(() => {
    clock = new FakeClock();
    held = new HeldSigners(Object.assign(new NonceConfig(), { poolQuietTime: 30_000 }), clock);
  });

  /** A pool that is not shown has something below 12, and it is not found. */
  const HIDDEN = found({ hiddenBelow: 12n, shown: false });
  const GONE = found({ shown: false });
  const SUSPECT = { suspect: true };

  it('goes on at once when nothing is hidden', () => {
    expect(held.judge(found({}))).toBe(true);
    expect(held.has(SIGNER)).toBe(false);
    expect(held.count).toBe(0);
  });

  it('goes on at once when nobody of this database ever acted for it, whatever is hidden', () => {
    expect(held.judge(found({ outlook: { known: false }, hiddenBelow: 12n, shown: false }))).toBe(true);
  });

  it('is held while a pool hides something, and until none has for the quiet time', () => {
    expect(held.judge(HIDDEN)).toBe(false);
    expect(held.has(SIGNER)).toBe(true);
    expect(held.has(OTHER)).toBe(false);
    expect(held.count).toBe(1);
    clock.advance(60_000);
    expect(held.judge(HIDDEN)).toBe(false);
    expect(held.judge(GONE)).toBe(false);
    clock.advance(29_999);
    expect(held.judge(GONE)).toBe(false);
    clock.advance(1);
    expect(held.judge(GONE)).toBe(true);
    expect(held.has(SIGNER)).toBe(false);
  });

  it('waits the whole quiet time again when a pool hides something meanwhile', () => {
    held.judge(HIDDEN);
    held.judge(GONE);
    clock.advance(20_000);
    held.judge(HIDDEN);
    held.judge(GONE);
    clock.advance(29_999);
    expect(held.judge(GONE)).toBe(false);
  });

  it('goes on at once when what was hidden is found', () => {
    held.judge(HIDDEN);
    expect(held.judge(found({ sent: [10n, 11n], hiddenBelow: 12n, shown: false }))).toBe(true);
  });

  it('is held for the quiet time when the database is suspect and no pool was shown', () => {
    expect(held.judge(found({ outlook: SUSPECT, shown: false }))).toBe(false);
    clock.advance(30_000);
    expect(held.judge(found({ outlook: SUSPECT, shown: false }))).toBe(true);
    expect(held.judge(found({ outlook: SUSPECT }))).toBe(true);
  });

  it('is held as long as blocks cannot be read, when the database is suspect', () => {
    const unread = found({ outlook: SUSPECT, unread: true });
    expect(held.judge(unread)).toBe(false);
    clock.advance(60_000);
    expect(held.judge(unread)).toBe(false);
    expect(held.judge(found({ unread: true }))).toBe(true);
  });

  it('is looked at again every half second', () => {
    expect(held.isDue(SIGNER)).toBe(true);
    clock.advance(1_000);
    held.judge(HIDDEN);
    clock.advance(499);
    expect(held.isDue(SIGNER)).toBe(false);
    clock.advance(1);
    expect(held.isDue(SIGNER)).toBe(true);
  });

  it('goes on when a person vouches for what was hidden, and is held again for more', () => {
    held.judge(HIDDEN);
    held.vouch(HIDDEN);
    expect(held.has(SIGNER)).toBe(false);
    expect(held.judge(HIDDEN)).toBe(true);
    expect(held.judge(found({ hiddenBelow: 13n, shown: false }))).toBe(false);
  });

  it('is held when what was found could not be written down, and needs no quiet time for that', () => {
    clock.advance(1_000);
    held.keep(SIGNER);
    expect(held.has(SIGNER)).toBe(true);
    clock.advance(499);
    expect(held.isDue(SIGNER)).toBe(false);
    clock.advance(1);
    expect(held.isDue(SIGNER)).toBe(true);
    expect(held.judge(found({ shown: false }))).toBe(true);
  });

  it('is forgotten where another node acts for it, and when it is released', () => {
    held.keep(SIGNER);
    held.keep(OTHER);
    held.keepOnly(({ address }) => address === OTHER.address);
    expect([SIGNER, OTHER].map((signer) => held.has(signer))).toEqual([false, true]);
    held.release(OTHER);
    expect(held.count).toBe(0);
  });
});

describe('a cursor that this process saw committed', () => {
  let reports: string[];
  let cursors: CommittedCursors;

  beforeEach(() => {
    reports = [];
    cursors = new CommittedCursors({
      report: (evidence: string) => reports.push(evidence),
    } as unknown as DatabaseWatch);
  });

  const inDatabase = (cursor: bigint) => new Map([[signerKey(SIGNER), cursor]]);

  it('is found at the same place or above it', () => {
    cursors.expect([SIGNER], new Map());
    cursors.committed([
      { signer: SIGNER, nonce: 6n },
      { signer: SIGNER, nonce: 4n },
    ]);
    cursors.expect([SIGNER, OTHER], inDatabase(7n));
    cursors.expect([SIGNER], inDatabase(8n));
    expect(reports).toEqual([]);
  });

  it.each([
    ['below it', inDatabase(6n), '6'],
    ['nowhere', new Map<string, bigint>(), '0'],
  ])('and that is now %s shows that the database lost commits', (_where, database, place) => {
    cursors.committed([
      { signer: SIGNER, nonce: 4n },
      { signer: SIGNER, nonce: 6n },
    ]);
    expect(() => cursors.expect([OTHER, SIGNER], database)).toThrow(
      expect.objectContaining({
        code: 'commits_lost',
        message: 'the database has lost commits',
        advice: 'wait: what is out is looked for first, and then the signer goes on',
        facts: { signer: signerKey(SIGNER), committed: '7', found: place },
        retryable: true,
      }),
    );
    expect(reports).toEqual(['cursor_went_backwards']);
  });

  it('is forgotten once what is out is known again', () => {
    cursors.committed([{ signer: SIGNER, nonce: 6n }]);
    cursors.forget(SIGNER);
    cursors.expect([SIGNER], inDatabase(3n));
    expect(reports).toEqual([]);
  });
});
