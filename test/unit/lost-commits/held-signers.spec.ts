import { beforeEach, describe, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import type { SignerOutlook } from '../../../src/modules/ledger/domain/lost-commits.repository.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeWatch } from '../../support/fakes/fake-watch.js';
import { aSentTransaction, anOutlook } from '../../support/sent-builders.js';

const SIGNER = aSigner(1);
const OTHER = aSigner(2);
const QUIET_MS = 10_000;
const CURSOR = 5n;

interface Found {
  readonly outlook?: Partial<SignerOutlook>;
  /** Pools that are not shown have something below it. */
  readonly hiddenBelow?: bigint;
  readonly latest?: bigint;
  readonly shown?: boolean;
  readonly unread?: boolean;
  /** Nonces of what was found, on the chain or in a pool. */
  readonly sent?: readonly bigint[];
}

let clock: FakeClock;
let watch: FakeWatch;
let held: HeldSigners;

beforeEach(() => {
  clock = new FakeClock();
  watch = new FakeWatch();
  held = new HeldSigners(Object.assign(new NonceConfig(), { poolQuietTime: QUIET_MS }), clock, watch.asWatch());
});

function found({
  outlook,
  hiddenBelow = 0n,
  latest = CURSOR,
  shown = true,
  unread = false,
  sent = [],
}: Found = {}): Findings {
  const transactions = sent.map((nonce) => aSentTransaction({ nonce }));
  return new Findings(anOutlook({ cursor: CURSOR, ...outlook }), latest, transactions, hiddenBelow, shown, unread);
}

describe('a signer whose pool hides something', () => {
  const HIDING = found({ hiddenBelow: CURSOR + 2n });

  it('is held, and looked at again after half a second', () => {
    clock.advance(1_000);
    expect([held.isDue(SIGNER), held.judge(HIDING), held.has(SIGNER), held.count]).toEqual([true, false, true, 1]);
    expect(held.has(OTHER)).toBe(false);
    clock.advance(499);
    expect(held.isDue(SIGNER)).toBe(false);
    clock.advance(1);
    expect(held.isDue(SIGNER)).toBe(true);
  });

  it('goes on when no pool has had it for long enough', () => {
    held.judge(HIDING);
    clock.advance(2 * QUIET_MS);
    expect(held.judge(HIDING)).toBe(false);
    expect(held.judge(found())).toBe(false);
    clock.advance(QUIET_MS - 1);
    expect(held.judge(found())).toBe(false);
    clock.advance(1);
    expect([held.judge(found()), held.has(SIGNER)]).toEqual([true, false]);
  });

  it('waits anew when a pool has it again', () => {
    held.judge(HIDING);
    held.judge(found());
    clock.advance(QUIET_MS);
    expect(held.judge(HIDING)).toBe(false);
    expect(held.judge(found())).toBe(false);
    clock.advance(QUIET_MS - 1);
    expect(held.judge(found())).toBe(false);
  });

  it('goes on at once when all of it was mined', () => {
    held.judge(HIDING);
    expect(held.judge(found({ latest: CURSOR + 2n }))).toBe(true);
    held.judge(HIDING);
    expect(held.judge(found({ latest: CURSOR + 1n }))).toBe(false);
  });

  it('is not held for what is below its cursor and known', () => {
    expect(held.judge(found({ hiddenBelow: CURSOR }))).toBe(true);
    const open = [{ nonce: CURSOR - 1n, txId: null }];
    expect(held.judge(found({ hiddenBelow: CURSOR, latest: CURSOR - 1n, outlook: { open } }))).toBe(false);
  });

  it('is not held for what was found, each of it', () => {
    const hiddenBelow = CURSOR + 2n;
    expect(held.judge(found({ hiddenBelow, sent: [CURSOR, CURSOR + 1n] }))).toBe(true);
    expect(held.judge(found({ hiddenBelow, sent: [CURSOR + 1n, CURSOR + 2n] }))).toBe(false);
  });

  it('goes on when a person vouches for it, until more is hidden', () => {
    held.judge(HIDING);
    held.vouch(HIDING);
    expect([held.has(SIGNER), held.judge(HIDING)]).toEqual([false, true]);
    expect(held.judge(found({ hiddenBelow: CURSOR + 3n }))).toBe(false);
  });

  it('is not held when nobody acted for it before', () => {
    expect(held.judge(found({ hiddenBelow: CURSOR + 2n, outlook: { known: false } }))).toBe(true);
  });
});

describe('a new epoch', () => {
  const HIDING = found({ hiddenBelow: CURSOR + 2n });

  it('ends what a person vouched for', () => {
    held.vouch(HIDING);
    watch.newEpoch();
    expect(held.judge(HIDING)).toBe(false);
  });

  it('begins the time anew in which pools have to be quiet', () => {
    const unseen = found({ shown: false, outlook: { suspect: true } });
    held.judge(unseen);
    clock.advance(QUIET_MS - 1);
    watch.newEpoch();
    clock.advance(1);
    expect(held.judge(unseen)).toBe(false);
  });
});

describe('a signer that is suspect', () => {
  const outlook = { suspect: true };

  it('goes on at once when a pool was shown whole', () => {
    expect(held.judge(found({ outlook }))).toBe(true);
  });

  it('waits for quiet pools when none was shown', () => {
    expect(held.judge(found({ outlook, shown: false }))).toBe(false);
    clock.advance(QUIET_MS);
    expect(held.judge(found({ outlook, shown: false }))).toBe(true);
  });

  it('waits while blocks cannot be read, however long', () => {
    held.judge(found({ outlook, unread: true }));
    clock.advance(QUIET_MS);
    expect(held.judge(found({ outlook, unread: true }))).toBe(false);
    expect(held.judge(found({ outlook }))).toBe(true);
  });

  it('is the only one that waits for blocks', () => {
    expect(held.judge(found({ unread: true }))).toBe(true);
  });
});

it('a signer of which nothing is hidden goes on at once', () => {
  expect([held.judge(found()), held.has(SIGNER), held.count]).toEqual([true, false, 0]);
});

it('what was found and could not be written keeps a signer held, and it is looked at again', () => {
  clock.advance(1_000);
  held.keep(SIGNER);
  expect([held.has(SIGNER), held.isDue(SIGNER)]).toEqual([true, false]);
  clock.advance(500);
  expect(held.isDue(SIGNER)).toBe(true);
  // That is no matter of a pool, so no quiet time is needed.
  expect(held.judge(found({ shown: false }))).toBe(true);
});

it('nothing is remembered of signers for which another node acts, nor of those that are released', () => {
  held.keep(SIGNER);
  held.keep(OTHER);
  held.keepOnly(({ address }) => address === OTHER.address);
  expect([held.has(SIGNER), held.has(OTHER)]).toEqual([false, true]);
  held.release(OTHER);
  expect(held.count).toBe(0);
});
