import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { BumpWatch } from '../../../src/modules/ledger/application/writing/bump-watch.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';

const OTHER_CHAIN = 7;
const leaseOf = (n: number, token = 1n): Lease => ({ signer: aSigner(n), owner: 'node', token });
const [MINE, OTHER] = [leaseOf(1), leaseOf(2)];

let watch: BumpWatch;
let clock: FakeClock;
const due = (head: number, ...leases: readonly Lease[]) => watch.due(DEV_CHAIN, leases, head);

beforeEach(() => {
  clock = new FakeClock();
  watch = new BumpWatch(Object.assign(new ResubmitConfig(), { bumpAfterBlocks: 5 }), clock);
});

describe('a signer is looked at', () => {
  it('once by a new owner, whose token is new', () => {
    expect(due(100, MINE, OTHER)).toEqual([MINE.signer, OTHER.signer]);
    watch.looked(MINE, 110);
    expect([due(109, MINE), due(109, leaseOf(1, 2n))]).toEqual([[], [MINE.signer]]);
  });

  it('again and again until a look succeeded', () => {
    expect([due(100, MINE), due(100, MINE)]).toEqual([[MINE.signer], [MINE.signer]]);
  });

  it('from the block on that the last look named', () => {
    due(100, MINE, OTHER);
    watch.looked(MINE, 103);
    watch.looked(OTHER, 104);
    expect([due(102, MINE, OTHER), due(103, MINE, OTHER), due(104, MINE, OTHER)]).toEqual([
      [],
      [MINE.signer],
      [MINE.signer, OTHER.signer],
    ]);
  });

  it('bumpAfterBlocks after the head came back at the latest, when an endpoint had told one far above it', () => {
    due(16_777_215, MINE);
    watch.looked(MINE, 16_777_217);
    expect([due(100, MINE), due(104, MINE), due(105, MINE)]).toEqual([[], [], [MINE.signer]]);
  });

  it('anew after this node lost it, without what it knew', () => {
    due(100, MINE);
    watch.looked(MINE, null);
    due(101);
    expect(due(102, MINE)).toEqual([MINE.signer]);
  });
});

describe('a signer without a tx in flight is never looked at', () => {
  beforeEach(() => {
    due(100, MINE);
    watch.looked(MINE, null);
  });

  it('until a tx of it was sent, and then bumpAfterBlocks later', () => {
    expect(due(1_000, MINE)).toEqual([]);
    watch.sent([MINE.signer]);
    expect([due(1_004, MINE), due(1_005, MINE)]).toEqual([[], [MINE.signer]]);
  });

  it('not because of a tx of another signer', () => {
    watch.sent([OTHER.signer]);
    expect(due(1_000, MINE)).toEqual([]);
  });
});

it('a send moves no look that is due earlier', () => {
  due(100, MINE);
  watch.looked(MINE, 101);
  watch.sent([MINE.signer]);
  expect(due(101, MINE)).toEqual([MINE.signer]);
});

it('an old owner changes nothing: a look under another token does not count', () => {
  due(100, leaseOf(1, 2n));
  watch.looked(MINE, null);
  expect(due(100, leaseOf(1, 2n))).toEqual([MINE.signer]);
});

it('chains are apart', () => {
  const there = { ...MINE, signer: { ...MINE.signer, chainId: OTHER_CHAIN } };
  due(100, MINE);
  watch.looked(MINE, 200);
  expect(watch.due(OTHER_CHAIN, [there], 100)).toEqual([there.signer]);
  expect(due(150, MINE)).toEqual([]);
});

it('a tx is sent again when it was the lowest one due bumpAfterBlocks before, too, and after pauses that double up to a minute', () => {
  expect(watch.mayResend(MINE, 7n)).toBe(false);
  due(100, MINE, OTHER);
  expect([watch.mayResend(MINE, 7n), watch.mayResend(OTHER, 7n)]).toEqual([false, false]);
  due(104, MINE, OTHER);
  expect([watch.mayResend(MINE, 8n), watch.mayResend(OTHER, 7n)]).toEqual([false, false]);
  due(109, MINE, OTHER);
  expect(watch.mayResend(OTHER, 7n)).toBe(true);
  const resentAt: number[] = [];
  for (let second = 0; second < 200; second += 1) {
    if (watch.mayResend(MINE, 8n)) resentAt.push(second);
    clock.advance(1_000);
  }
  expect(resentAt).toEqual([0, 5, 15, 35, 75, 135, 195]);
});

it('a new owner sends nothing again before its second look', () => {
  due(100, MINE);
  watch.mayResend(MINE, 7n);
  due(101, leaseOf(1, 2n));
  expect(watch.mayResend(leaseOf(1, 2n), 7n)).toBe(false);
  due(106, leaseOf(1, 2n));
  expect(watch.mayResend(leaseOf(1, 2n), 7n)).toBe(true);
});
