import { beforeEach, describe, expect, it } from '@jest/globals';
import { DailySums } from '../../../src/modules/lanes/application/daily-sums.js';
import { HoldShares } from '../../../src/modules/lanes/application/hold-shares.js';
import { NonceGate } from '../../../src/modules/lanes/application/nonce-gate.js';
import type { ReadyTx } from '../../../src/modules/lanes/application/prepare-pending.js';
import { LaneMemory, SignerFeeCaps, TxQueue } from '../../../src/modules/ledger/index.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { FeeRules } from '../../../src/modules/sending/index.js';
import { Fence, type SignerPolicy } from '../../../src/modules/signers/index.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { aManagedTx, anAddress, aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { aPermit } from '../../support/permit-builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { MemorySpendLedger } from '../../support/fakes/memory-spend-ledger.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [BOUND, FREE] = [aSigner(1), aSigner(2)];
const FENCE = fakeOf(Fence, { tokenFor: () => 1n });
/** Wei of fees that each tx can cost. */
const FEES = 3n;
const CAPS = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n };

let spending: MemorySpendLedger;
let stored: MemoryPolicies;
let locked: (id: string) => boolean;
/** Of the holds that were asked about. */
let withRoom: string[];
let asked: string[];
let custody: KeysOf;

beforeEach(() => {
  [spending, stored, locked] = [new MemorySpendLedger(), new MemoryPolicies(), () => true];
  [withRoom, asked, custody] = [[], [], new KeysOf([])];
});

const gate = (policy: Partial<SignerPolicy>): NonceGate =>
  new NonceGate(
    fakeOf(TxQueue, {
      lockForNonce: async (_fence, txs) => ({
        ids: new Set(txs.map(({ id }) => id).filter(locked)),
        policyMark: stored.mark,
      }),
    }),
    new SignerPolicies(
      new KeysOf([BOUND], aPolicy(policy)),
      stored,
      new FakeMetrics(),
      new RecordingLog(),
      new FakeClock(),
    ),
    new DailySums(spending, fakeOf(SignerFeeCaps, { of: () => CAPS }), new LaneMemory(new FakeClock())),
    fakeOf(FeeRules, { most: () => FEES }),
    fakeOf(HoldShares, {
      admitted: async (_fence, holds) => (asked.push(...holds.map(({ id }) => id)), new Set(withRoom)),
    }),
    custody,
  );

const ready = (txId: string, value: bigint, signer = BOUND): ReadyTx => {
  const request = aRequest({ signer });
  return {
    tx: aManagedTx({ txId, signer }).build(),
    request: { ...request, payload: { ...request.payload, value } },
    gasLimit: 1n,
  };
};

async function admitted(policy: Partial<SignerPolicy>, ...items: readonly ReadyTx[]) {
  const { admitted: some, turnedAway, needs } = await gate(policy).admit(FENCE, items);
  return {
    admitted: some.map(({ tx }) => tx.id),
    turnedAway: turnedAway.map(({ id, state, progress }) => [id, state, progress.subState]),
    needs: [...needs],
  };
}

describe('a waiting tx', () => {
  it('of a signer without a policy gets its nonce, and that costs no statement', async () => {
    expect(await admitted({ dailyValue: 1n }, ready('a', 9n, FREE))).toEqual({
      ...{ admitted: ['a'], turnedAway: [], needs: [] },
    });
    expect(await admitted({ maxValue: 9n }, ready('a', 9n))).toMatchObject({ admitted: ['a'], needs: [] });
    expect(spending.calls).toBe(0);
  });

  it('that does not wait any more is passed over, and needs nothing', async () => {
    locked = (id) => id !== 'gone';
    expect(await admitted({ dailyValue: 5n }, ready('gone', 5n), ready('b', 5n))).toMatchObject({
      ...{ admitted: ['b'], turnedAway: [], needs: [['b', { value: 5n, fees: FEES }]] },
    });
  });

  it('that the policy refuses fails, and the others go on', async () => {
    expect(await admitted({ maxValue: 5n }, ready('a', 6n), ready('b', 5n))).toMatchObject({
      admitted: ['b'],
      turnedAway: [['a', 'FAILED', null]],
    });
  });

  it('whose permit the policy of its owner does not allow any more waits, and one of an owner that this node knows no policy of goes on', async () => {
    const permitting = (id: string, owner: SignerId): ReadyTx => {
      const item = ready(id, 0n, FREE);
      const permits = [aPermit({ owner: owner.address, contract: anAddress(0x70) })];
      return { ...item, request: { ...item.request, payload: { ...item.request.payload, permits } } };
    };
    const items = [permitting('a', BOUND), permitting('b', FREE)];
    expect(await admitted({ typedData: [] }, ...items)).toEqual({
      ...{ admitted: ['b'], turnedAway: [['a', 'PENDING', null]], needs: [] },
    });
    const { admitted: some } = await admitted({ typedData: [`${anAddress(0x70)}/Permit`] }, ...items);
    expect(some).toEqual(['a', 'b']);
  });

  it('that the policy refuses is dropped when it is a hold: its sender never had a nonce, and nothing of it failed', async () => {
    const item = ready('a', 0n);
    const hold = aManagedTx({ ...item.tx.progress, kind: 'hold' }).build();
    const { turnedAway } = await gate({ maxValue: 5n }).admit(FENCE, [{ ...item, tx: hold }]);
    expect(turnedAway.map(({ state }) => state)).toEqual(['DROPPED']);
    expect(turnedAway.flatMap((tx) => tx.pendingEvents())).toMatchObject([
      { reason: 'dropped', error: expect.stringMatching(/^policy_refused: outsideNonces: /) },
    ]);
  });

  it('of a signer whose key no node has fails without a nonce, but a hold', async () => {
    custody.external = [FREE];
    withRoom = ['hold'];
    const { tx, ...rest } = ready('hold', 0n, FREE);
    const hold = { ...rest, tx: aManagedTx({ ...tx.progress, kind: 'hold' }).build() };
    const { admitted: some, turnedAway } = await gate({}).admit(FENCE, [ready('a', 0n, FREE), hold, ready('b', 0n)]);
    expect(some.map((item) => item.tx.id)).toEqual(['hold', 'b']);
    expect(turnedAway).toMatchObject([
      { id: 'a', state: 'FAILED', progress: { failureReason: expect.stringMatching(/^external_signer: /) } },
    ]);
  });

  it('that is a hold waits while outside senders have as many nonces as they may; payloads are not asked about', async () => {
    const holdOf = (txId: string): ReadyTx => {
      const item = ready(txId, 0n, FREE);
      return { ...item, tx: aManagedTx({ ...item.tx.progress, kind: 'hold' }).build() };
    };
    locked = (id) => id !== 'gone';
    withRoom = ['b'];
    const { admitted: some, turnedAway } = await gate({}).admit(FENCE, [
      holdOf('a'),
      holdOf('b'),
      holdOf('gone'),
      ready('c', 0n, FREE),
    ]);
    expect([some.map(({ tx }) => tx.id), asked]).toEqual([
      ['b', 'c'],
      ['a', 'b'],
    ]);
    expect(turnedAway).toMatchObject([{ id: 'a', state: 'PENDING', progress: { tries: 1 } }]);
    const [{ timers: { resubmit } } = { timers: { resubmit: null } }] = turnedAway;
    expect(resubmit).toEqual({ inMs: expect.any(Number) });
  });

  it('is judged by what was set by the API before it was locked, which is read once', async () => {
    await stored.set(BOUND, { maxValue: 5n });
    const judging = gate({ maxValue: 6n });
    const admission = async (...items: readonly ReadyTx[]) =>
      (await judging.admit(FENCE, items)).admitted.map(({ tx }) => tx.id);
    expect(await admission(ready('a', 6n), ready('b', 5n))).toEqual(['b']);
    expect([await admission(ready('c', 5n)), stored.reads]).toEqual([['c'], 1]);
    await stored.set(BOUND, { maxValue: 4n });
    expect(await admission(ready('d', 5n))).toEqual([]);
    await stored.set(BOUND, null);
    expect(await admission(ready('e', 7n), ready('f', 6n))).toEqual(['f']);
    expect(stored.reads).toBe(3);
  });

  it('whose policies were read by another question meanwhile is judged by what its own transaction read', async () => {
    const policies = new SignerPolicies(new KeysOf([]), stored, new FakeMetrics(), new RecordingLog(), new FakeClock());
    const older = await stored.news('', FENCE.tx);
    await stored.set(BOUND, { maxValue: 4n });
    // It was asked later, and the database answered it before the change.
    const own = policies.at(stored.mark, FENCE.tx);
    stored.news = async () => older;
    await policies.refresh();
    expect((await own).of(BOUND)).toMatchObject([{ maxValue: 4n }]);
    expect(policies.present.of(BOUND)).toEqual([]);
  });

  it('for which there is no room beside those before it waits, and what fits goes on', async () => {
    expect(await admitted({ dailyValue: 10n }, ready('a', 6n), ready('b', 5n), ready('c', 4n))).toMatchObject({
      admitted: ['a', 'c'],
      turnedAway: [['b', 'PENDING', 'POLICY_HELD']],
    });
  });

  it('waits for the fees of the day as for its value', async () => {
    expect(await admitted({ dailyFees: 5n }, ready('a', 0n), ready('b', 0n))).toMatchObject({
      admitted: ['a'],
      turnedAway: [['b', 'PENDING', 'POLICY_HELD']],
    });
  });

  it('waits for nothing in a dry run, and is counted', async () => {
    const dry = { dailyValue: 5n, dryRun: true };
    expect(await admitted(dry, ready('a', 4n), ready('b', 4n))).toMatchObject({ admitted: ['a', 'b'], turnedAway: [] });
  });

  it('waits until the oldest of what is spent is a day old, when that is before its timer', async () => {
    spending.nextInMs = 70;
    const { turnedAway } = await gate({ dailyValue: 3n }).admit(FENCE, [ready('a', 2n), ready('b', 2n)]);
    expect(turnedAway[0]?.timers.resubmit).toEqual({ inMs: 70 });
  });

  it('waits so for all of its queue: the others keep their timers, which would else all end each minute', async () => {
    spending.nextInMs = 70;
    const held = ['a', 'b', 'c'].map((id) => ready(id, 2n));
    spending.reserves.set('other', { signer: BOUND, nonce: 1n, value: 2n, fees: 0n });
    const { turnedAway, roomCame } = await gate({ dailyValue: 3n }).admit(FENCE, held);
    const waits = turnedAway.map(({ timers: { resubmit } }) => (typeof resubmit === 'object' ? resubmit.inMs : 0));
    expect(waits[0]).toBe(70);
    for (const ms of waits.slice(1)) expect(ms).toBeGreaterThan(1_000);
    expect([waits.length, roomCame]).toEqual([3, []]);
  });

  it('says that there is room again when it gets its nonce after all, so that the others are looked at', async () => {
    const item = ready('a', 2n);
    const tx = aManagedTx({ ...item.tx.progress, subState: 'POLICY_HELD', tries: 1 }).build();
    const { roomCame } = await gate({ dailyValue: 3n }).admit(FENCE, [{ ...item, tx }, ready('b', 1n)]);
    expect(roomCame).toEqual([BOUND]);
    expect((await gate({ dailyValue: 3n }).admit(FENCE, [item])).roomCame).toEqual([]);
  });

  it('waits longer each time, up to ten minutes', async () => {
    const waits = async (tries: number): Promise<number> => {
      const item = ready('b', 2n);
      const tx = aManagedTx({ ...item.tx.progress, subState: 'POLICY_HELD', tries }).build();
      const { turnedAway } = await gate({ dailyValue: 3n }).admit(FENCE, [ready('a', 2n), { ...item, tx }]);
      const timer = turnedAway[0]?.timers.resubmit;
      return typeof timer === 'object' ? timer.inMs : 0;
    };
    expect(await waits(0)).toBeLessThanOrEqual(5_000);
    expect(await waits(30)).toBeGreaterThan(450_000 - 1);
    expect(await waits(30)).toBeLessThanOrEqual(600_000);
  });
});
