import { beforeEach, describe, expect, it } from '@jest/globals';
import { CloseExpired } from '../../../src/modules/commands/application/close-expired.js';
import type { CloseUnwanted, Unwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import type { Later } from '../../../src/modules/commands/domain/tx-command.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { CommandedTxs, ManagedTx, ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { begunWork } from '../../support/fakes/our-work.js';

const SIGNER = aSigner();

/** Of whom this node has the leases. */
let held: { readonly signer: typeof SIGNER }[];
/** Expired txs, and as the signer's worker finds them. */
let expired: ManagedTx[];
let read: ManagedTx[];
let asked: unknown[][];
let closed: { operation: string; unwanted: readonly Unwanted[] }[];
let later: Later[];
let isAway: boolean;
/** Which txs nobody here can close. */
let goOn: string[];
let writes: RecordedWrites;
let close: CloseExpired;

const aTx = (txId: string, progress: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId, state: 'IN_MEMPOOL', nonce: 7n, ...progress }).build();

beforeEach(() => {
  held = [{ signer: SIGNER }];
  [expired, read, asked, closed] = [[aTx('tx')], [aTx('tx')], [], []];
  [later, isAway, goOn, writes] = [[], false, [], new RecordedWrites()];
  writes.canLock = (txId) => txId !== 'locked';
  close = new CloseExpired(
    { heldOn: () => held } as unknown as LeaseManager,
    {
      expired: async (...args: unknown[]) => (asked.push(args), expired),
      postponeClosing: async (some: readonly Later[]) => void later.push(...some),
    } as unknown as CommandedTxs,
    begunWork,
    {
      byIds: async (ids: readonly string[]) => read.filter(({ id }) => ids.includes(id)),
    } as unknown as ManagedTxRepository,
    {
      close: async (_leases: unknown, operation: string, unwanted: readonly Unwanted[]) => {
        if (isAway) throw new Error('no database');
        closed.push({ operation, unwanted });
        return goOn;
      },
    } as unknown as CloseUnwanted,
    writes.asDoor(),
  );
});

const closedIds = (): string[] => closed.flatMap(({ unwanted }) => unwanted.map(({ tx }) => tx.id));

describe('txs in flight whose end has passed', () => {
  it('are asked for of the signers whose leases this node has, a few hundred at once', async () => {
    await close.execute(DEV_CHAIN);
    expect(asked[0]).toEqual([DEV_CHAIN, [SIGNER.address], 500]);
  });

  it('have another due time when they cannot be closed, and none when they are', async () => {
    await close.execute(DEV_CHAIN);
    expect(later).toEqual([]);
    isAway = true;
    await expect(close.execute(DEV_CHAIN)).rejects.toThrow('no database');
    expect(later.map(({ id }) => id)).toEqual(['tx']);
    expect(later[0]?.inMs).toBeGreaterThanOrEqual(7_500);
  });

  it('are looked at later when only a no-op could end them, and nobody here signs one', async () => {
    [expired, read, goOn] = [[aTx('tx'), aTx('goes-on')], [aTx('tx'), aTx('goes-on')], ['goes-on']];
    await close.execute(DEV_CHAIN);
    expect(later.map(({ id }) => id)).toEqual(['goes-on']);
  });

  it('end DROPPED at once when they wait without a nonce, but for one that somebody changes now', async () => {
    expired = read = ['waits', 'locked'].map((txId) => aTx(txId, { state: 'PENDING', nonce: null }));
    await close.execute(DEV_CHAIN);
    expect(writes.txs).toMatchObject([{ id: 'waits', state: 'DROPPED' }]);
    expect(writes.operations).toEqual(['expire']);
    expect(later.map(({ id }) => id)).toEqual(['locked']);
  });

  it('are closed with the reason', async () => {
    await close.execute(DEV_CHAIN);
    expect(closed).toMatchObject([
      { operation: 'expire', unwanted: [{ tx: { id: 'tx' }, reason: 'expired before it was mined' }] },
    ]);
  });

  it('end DROPPED when nothing of them was sent', async () => {
    read = [aTx('tx', { state: 'ALLOCATED' })];
    await close.execute(DEV_CHAIN);
    for (const { tx, end } of closed[0]?.unwanted ?? []) end?.(tx);
    expect(read[0]?.state).toBe('DROPPED');
  });

  it.each<[string, Partial<TxProgress>]>([
    ['was mined', { state: 'MINED' }],
    ['has ended', { state: 'CONFIRMED' }],
    ['is closed', { closing: { as: 'FAILED', reason: 'refused', won: false } }],
    ['was replaced', { replacedBy: 'other' }],
    ['is a fill', { kind: 'fill' }],
    ['is a hold, which got its nonce', { kind: 'hold', state: 'ALLOCATED' }],
  ])('are left alone when the signer’s worker finds one that %s meanwhile', async (_what, progress) => {
    expired = [aTx('moved'), aTx('tx')];
    read = [aTx('moved', progress), aTx('tx')];
    await close.execute(DEV_CHAIN);
    expect(closedIds()).toEqual(['tx']);
  });

  it('do not end while they wait, when their end was moved since they were looked for: they are looked for again', async () => {
    expired = [aTx('tx', { state: 'PENDING', nonce: null, version: 1 })];
    read = [aTx('tx', { state: 'PENDING', nonce: null, version: 2 })];
    await close.execute(DEV_CHAIN);
    expect([writes.txs, closedIds(), later]).toEqual([[], [], []]);
  });

  it('are not asked for on a chain on which this node has no lease', async () => {
    held = [];
    await close.execute(DEV_CHAIN);
    expect([asked, closed]).toEqual([[], []]);
  });
});
