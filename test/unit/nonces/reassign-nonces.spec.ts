import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { ForeignNonces } from '../../../src/modules/nonces/index.js';
import { ReassignNonces } from '../../../src/modules/nonces/application/reassign-nonces.js';
import {
  type Attempt,
  type AttemptRepository,
  ManagedTx,
  type ManagedTxRepository,
} from '../../../src/modules/transactions/index.js';
import type { TxProgress } from '../../../src/modules/transactions/domain/managed-tx.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const SIGNER = aSigner();
const SLOT = { signer: SIGNER, nonce: 4n };
const KNOWN = anAttempt({ ...SLOT, txId: 'tx-1', txHash: aHash(1) });

/** A transaction that is not ours and has the nonce. */
const USER = aHash(0xf0);

/** A node called its nonce used. */
const inDoubt = (overrides: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId: 'tx-1', ...SLOT, state: 'IN_MEMPOOL', subState: 'NONCE_SYNC', ...overrides }).build();

/** The tx as it is when it is read again. */
let read: ManagedTx;
let attempts: readonly Attempt[];
/** Null when the chain cannot name the user. */
let usedBy: Hash | null;
let isProven: boolean;
let asked: unknown[];
let writes: RecordedWrites;
let log: RecordingLog;
let reassign: ReassignNonces;

beforeEach(() => {
  [read, attempts, usedBy, isProven] = [inDoubt(), [KNOWN], USER, true];
  [asked, writes, log] = [[], new RecordedWrites(), new RecordingLog()];
  reassign = new ReassignNonces(
    {
      execute: async (_: unknown, doubts: readonly { slot: unknown; hashes: unknown }[]) => {
        asked.push(...doubts.map(({ slot, hashes }) => ({ slot, hashes })));
        return isProven ? doubts.map((doubt) => ({ ...doubt, usedBy })) : [];
      },
    } as unknown as ForeignNonces,
    ourWork,
    { byIds: async () => [read], rivals: async () => [] } as unknown as ManagedTxRepository,
    { ofSlots: async () => attempts } as unknown as AttemptRepository,
    writes.asDoor(),
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

  it('waits for another nonce, and its history and the log name what has the old one', async () => {
    expect(await after()).toMatchObject({ state: 'PENDING', nonce: null, txHash: null });
    expect(read.pendingEvents()).toMatchObject([{ reason: 'nonce_synced', detail: { nonce: '4', usedBy: USER } }]);
    expect(log.lines.map(({ fields }) => fields)).toEqual([{ txId: 'tx-1', nonce: 4n, usedBy: USER }]);
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
    expect(asked).toEqual([{ slot: SLOT, hashes: [aHash(1), aHash(2)] }]);
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

it('a tx whose nonce is not proven taken keeps it', async () => {
  isProven = false;
  expect([await after(), writes.written]).toEqual([null, []]);
});
