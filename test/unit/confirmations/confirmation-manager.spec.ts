import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ChainConfig, LockstepConfig, type NodeRole } from '../../../src/config/index.js';
import type { Hash } from '../../../src/kernel/hex.js';
import type { ChainId } from '../../../src/kernel/signer-id.js';
import { type ChainUpdate, HeadTracker, NewHeads } from '../../../src/modules/chain/index.js';
import { ApplyChainUpdate } from '../../../src/modules/confirmations/application/apply-chain-update.js';
import { HeadTrackingDuty } from '../../../src/modules/confirmations/application/head-tracking-duty.js';
import { ConfirmationManager } from '../../../src/modules/confirmations/infrastructure/confirmation-manager.js';
import { LeaseManager } from '../../../src/modules/signers/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { until } from '../../support/until.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const CHAIN = 7;
const HOUR = 3_600_000;
const POLL_MS = 5;
const HEAD = { number: 12, hash: `0x${'12'.repeat(32)}` as Hash };

/** What the manager asks of the follower of blocks. */
class FakeFollow {
  looks = 0;
  /** Questions whether an announced head is followed already: one for each tick that thinks of resting. */
  doubts = 0;
  followed: Hash | null = null;
  /** One look: whether something was new, after what it takes. */
  look = async (_apply: (update: ChainUpdate) => Promise<void>): Promise<boolean> => false;

  hashAt(): Hash | null {
    this.doubts += 1;
    return this.followed;
  }

  async execute(_chainId: ChainId, apply: (update: ChainUpdate) => Promise<void>): Promise<boolean> {
    this.looks += 1;
    return this.look(apply);
  }
}

class FakeHeads {
  latest: NewHeads['latest'] = () => null;
  announce: ((chainId: ChainId) => void) | null = null;

  start(onNews: (chainId: ChainId) => void): void {
    this.announce = onNews;
  }
}

describe('the follower of blocks', () => {
  let follow: FakeFollow;
  let heads: FakeHeads;
  let clock: FakeClock;
  let manager: ConfirmationManager;
  let isDue: boolean;
  let applied: ChainUpdate[];
  let onFirstLease: (chainId: ChainId) => void;

  const start = (pollInterval: number, role: NodeRole = 'all'): void => {
    const chain = Object.assign(new ChainConfig(), { id: CHAIN, pollInterval });
    const config = Object.assign(new LockstepConfig(), { chains: [chain] });
    config.node.role = role;
    manager = new ConfirmationManager(
      fakeOf(HeadTracker, follow),
      fakeOf(ApplyChainUpdate, { execute: async (update) => void applied.push(update) }),
      fakeOf(NewHeads, heads),
      fakeOf(HeadTrackingDuty, { isDue: async () => isDue }),
      fakeOf(LeaseManager, { onFirstOf: (listener) => (onFirstLease = listener) }),
      clock,
      config,
      tickersWith(new RecordingLog()),
    );
    manager.onApplicationBootstrap();
  };
  const moreDoubts = async (): Promise<void> => {
    const before = follow.doubts;
    await until('several polls came by', async () => follow.doubts >= before + 5);
  };

  beforeEach(() => {
    [follow, heads, clock] = [new FakeFollow(), new FakeHeads(), new FakeClock()];
    isDue = true;
    applied = [];
  });
  afterEach(() => manager.onModuleDestroy());

  it('polls while nothing is announced', async () => {
    start(POLL_MS);
    await until('it polled', async () => follow.looks >= 5);
  });

  it('looks at once when a head is announced, however long the poll interval', async () => {
    start(HOUR);
    await until('the first look is over', async () => follow.looks === 1);
    heads.latest = () => HEAD;
    heads.announce?.(CHAIN);
    await until('it looked again', async () => follow.looks === 2);
  });

  it('rests while the announced head is followed, but for a look every ten intervals', async () => {
    follow.followed = HEAD.hash;
    start(POLL_MS);
    await until('the first look is over', async () => follow.looks > 0);
    heads.latest = () => HEAD;
    await moreDoubts();
    const looks = follow.looks;
    await moreDoubts();
    expect(follow.looks).toBe(looks);
    clock.advance(10 * POLL_MS - 1);
    await moreDoubts();
    expect(follow.looks).toBe(looks);
    // A little over: sums of such times are not exact.
    clock.advance(2);
    await until('it looked once more', async () => follow.looks > looks);
    await moreDoubts();
    expect(follow.looks).toBe(looks + 1);
  });

  it.each([
    ['is not there yet', null],
    ['is another one', `0x${'99'.repeat(32)}` as Hash],
  ])('goes on polling while the block that was announced %s on the endpoint that is read', async (_case, followed) => {
    follow.followed = followed;
    heads.latest = () => HEAD;
    start(POLL_MS);
    await until('it polled', async () => follow.looks >= 5);
  });

  it('polls again when announcements end', async () => {
    follow.followed = HEAD.hash;
    heads.latest = () => HEAD;
    start(POLL_MS);
    await moreDoubts();
    heads.latest = () => null;
    const looks = follow.looks;
    await until('it polled', async () => follow.looks >= looks + 5);
  });

  it("asks nothing of a chain that is not this node's to follow, and looks at once when it has a lease there", async () => {
    isDue = false;
    start(HOUR);
    await nextTurn();
    expect(follow.looks).toBe(0);
    isDue = true;
    onFirstLease(CHAIN);
    await until('it looked', async () => follow.looks === 1);
  });

  it('applies what is new', async () => {
    const update = { chainId: CHAIN } as ChainUpdate;
    follow.look = async (apply) => {
      await apply(update);
      return true;
    };
    start(HOUR);
    await until('it is applied', async () => applied.length === 1);
    expect(applied).toEqual([update]);
  });

  it.each([
    ['at once when something new took longer than the poll interval: the next block is there', true, 1, 2],
    ['only after its interval when it took no longer than that', true, -1, 1],
    ['only after its interval when nothing was new', false, 1, 1],
  ])('looks again %s', async (_when, isNew, longerByMs, looks) => {
    follow.look = async () => {
      if (follow.looks === 1) clock.advance(HOUR + longerByMs);
      return follow.looks === 1 && isNew;
    };
    start(HOUR);
    await until('the first look is over', async () => follow.looks >= 1);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(follow.looks).toBe(looks);
  });

  it('opens no socket on a node that does not act', async () => {
    start(HOUR, 'api');
    await nextTurn();
    expect([heads.announce, follow.looks]).toEqual([null, 0]);
  });
});
