import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NonceUser } from '../../../src/modules/chain/index.js';
import type { AdoptSent, Findings } from '../../../src/modules/lost-commits/index.js';
import type { ForeignNonces } from '../../../src/modules/nonces/index.js';
import type { SlotInDoubt } from '../../../src/modules/nonces/application/foreign-nonces.js';
import { ReassignNonces } from '../../../src/modules/nonces/application/reassign-nonces.js';
import {
  type Attempt,
  type AttemptRepository,
  LaneMemory,
  ManagedTx,
  type ManagedTxRepository,
} from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { aSentTransaction } from '../../support/sent-builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../../support/fakes/our-work.js';

const SIGNER = aSigner();
const SLOT = { signer: SIGNER, nonce: 4n };
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const KNOWN = anAttempt({ ...SLOT, txId: 'tx-1', txHash: aHash(1) });

/** A transaction that is not ours and has the nonce. */
const USER: NonceUser = { txHash: aHash(0xf0), block: { number: 1, hash: aHash(1) }, sent: null };

const SENT = aSentTransaction({ account: SIGNER.address, hash: aHash(0xf0) });

/** A node called its nonce used. */
const inDoubt = (overrides: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId: 'tx-1', ...SLOT, state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', ...overrides }).build();

/** The tx as it is when it is read again. */
let read: ManagedTx;
let attempts: readonly Attempt[];
/** Null when the chain cannot name the user. */
let usedBy: NonceUser | null;
let isProven: boolean;
/** What is found to be ours after all; null when it has to be compared again. */
let adopted: readonly object[] | null;
let compared: unknown[];
let memory: LaneMemory;
let log: RecordingLog;
let asked: unknown[];
let writes: RecordedWrites;
let reassign: ReassignNonces;

beforeEach(() => {
  [read, attempts, usedBy, isProven, adopted] = [inDoubt(), [KNOWN], USER, true, []];
  [asked, compared, writes, log] = [[], [], new RecordedWrites(), new RecordingLog()];
  memory = new LaneMemory(new FakeClock());
  memory.recovered([LEASE]);
  reassign = new ReassignNonces(
    {
      usedForGood: async (_: unknown, doubts: readonly SlotInDoubt[]) => {
        asked.push(...doubts.map(({ slot, hashes, since }) => ({ slot, hashes, since })));
        return isProven ? doubts.map((doubt) => ({ ...doubt, usedBy })) : [];
      },
    } as unknown as ForeignNonces,
    ourWork,
    { byIds: async () => [read], rivals: async () => [] } as unknown as ManagedTxRepository,
    { ofSlots: async () => attempts } as unknown as AttemptRepository,
    writes.asDoor(),
    {
      execute: async (_: unknown, findings: Findings) => {
        compared.push(...findings.unknown);
        return adopted;
      },
    } as unknown as AdoptSent,
    memory,
    log,
  );
});

async function after(known: readonly Attempt[] = [KNOWN]): Promise<TxProgress | null> {
  await reassign.execute(DEV_CHAIN, [{ tx: ManagedTx.rehydrate(read.progress), attempts: known }]);
  return writes.txs[0]?.progress ?? null;
}

describe('a tx whose nonce is proven taken', () => {
  it('gives the slot up for good, and its attempts have lost, in one commit under the lease', async () => {
    await after();
    const lost = [{ ...SLOT, txHash: null }];
    expect(writes.written).toEqual([
      {
        operation: 'nonce_sync',
        tokens: [1n],
        changes: { txs: [read], attempts: { decided: lost }, slots: { consumed: lost } },
      },
    ]);
  });

  it('waits for another nonce, and its history names what has the old one', async () => {
    expect(await after()).toMatchObject({ state: 'PENDING', nonce: null, txHash: null });
    expect(read.pendingEvents()).toMatchObject([
      { reason: 'nonce_synced', detail: { nonce: '4', usedBy: USER.txHash } },
    ]);
  });

  it('waits for another nonce also when the chain cannot name what has the old one', async () => {
    usedBy = null;
    expect(await after()).toMatchObject({ state: 'PENDING', nonce: null });
    expect(read.pendingEvents()).toMatchObject([{ detail: { usedBy: null } }]);
  });

  it('is DROPPED when it is a fill: its nonce is used, and there is no gap any more', async () => {
    read = inDoubt({ kind: 'fill' });
    expect(await after()).toMatchObject({ state: 'DROPPED' });
    expect(writes.slots('consumed')).toEqual([{ ...SLOT, txHash: null }]);
  });

  it('fails when its slot was being closed: the payload was not wanted any more', async () => {
    read = inDoubt({ subState: 'CANCELLING', closing: { as: 'FAILED', reason: 'refused', won: false } });
    expect(await after()).toMatchObject({ state: 'FAILED' });
  });

  it('gives it up on a proof of all its attempts', async () => {
    attempts = [KNOWN, anAttempt({ ...KNOWN, txHash: aHash(2) })];
    expect(await after(attempts)).not.toBeNull();
    expect(asked).toMatchObject([{ slot: SLOT, hashes: [aHash(1), aHash(2)] }]);
  });

  it.each([
    [[9, 7], 7],
    [[9, null], null],
    [[null, 7], null],
  ])('says since when one of them may be out: %p', async (blocks, block) => {
    const ids = ['00000000-0900-7000-8000-000000000000', '00000000-0800-7000-8000-000000000000'];
    attempts = blocks.map((pricedAtBlock, index) => anAttempt({ ...KNOWN, txId: ids[index] ?? '', pricedAtBlock }));
    await after(attempts);
    expect(asked).toMatchObject([{ since: { block, time: 0x800 } }]);
  });

  it('gives it up whatever attempts another tx has', async () => {
    attempts = [KNOWN, anAttempt({ ...KNOWN, txId: 'tx-2', txHash: aHash(2) })];
    expect(await after()).not.toBeNull();
  });

  it('keeps it when it got another attempt since: the proof is of the others only', async () => {
    attempts = [KNOWN, anAttempt({ ...KNOWN, txHash: aHash(2) })];
    expect([await after(), writes.written]).toEqual([null, []]);
  });

  it('keeps the nonce that it has by now, if that is another one', async () => {
    const doubt = { tx: inDoubt(), attempts: [KNOWN] };
    read = inDoubt({ nonce: 5n });
    await reassign.execute(DEV_CHAIN, [doubt]);
    expect(writes.written).toEqual([]);
  });

  it('keeps it when it is in doubt no more', async () => {
    read = inDoubt({ subState: null });
    expect(await after()).toBeNull();
  });
});

it('a tx whose nonce a lost attempt of its own used keeps it', async () => {
  adopted = [{}];
  expect([await after(), writes.written]).toEqual([null, []]);
});

it('a tx whose nonce is not proven taken keeps it', async () => {
  isProven = false;
  expect([await after(), writes.written]).toEqual([null, []]);
});

describe('what used a nonce of ours', () => {
  it('is foreign when it was compared with our txs, and none of them sent it', async () => {
    usedBy = { ...USER, sent: SENT };
    expect([(await after())?.state, compared]).toEqual(['PENDING', [SENT]]);
    expect(log.lines.map(({ fields }) => fields)).toMatchObject([{ nonce: 4n, usedBy: USER.txHash }]);
  });

  it('is foreign when it is of no type that we sign', async () => {
    expect([(await after())?.state, compared]).toEqual(['PENDING', []]);
  });

  it.each([
    ['one of our txs sent it', [{}]],
    ['it has to be compared again', null],
  ])('is not foreign when %s', async (_when, found) => {
    [usedBy, adopted] = [{ ...USER, sent: SENT }, found];
    expect([await after(), log.lines]).toEqual([null, []]);
  });

  it('is not foreign while the lane has not begun', async () => {
    usedBy = { ...USER, sent: SENT };
    memory.forget([SIGNER]);
    expect([await after(), compared]).toEqual([null, []]);
  });

  it('is not foreign while the lane belongs to another node', async () => {
    usedBy = { ...USER, sent: SENT };
    jest.spyOn(ourWork, 'run').mockImplementationOnce(async (_chain, items, task) => (await task([], items), []));
    expect([await after(), compared]).toEqual([null, []]);
  });
});
