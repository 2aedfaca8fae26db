import { beforeEach, describe, expect, it } from '@jest/globals';
import { CloseExpired } from '../../../src/modules/commands/application/close-expired.js';
import type { CloseUnwanted, Unwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import type { CommandStore } from '../../../src/modules/commands/domain/command-store.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import type { ManagedTx, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import type { TxProgress } from '../../../src/modules/transactions/domain/managed-tx.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const SIGNER = aSigner();

/** Of whom this node has the leases. */
let held: { readonly signer: typeof SIGNER }[];
/** Expired txs, and as the signer's worker finds them. */
let expired: ManagedTx[];
let read: ManagedTx[];
let asked: unknown[][];
let closed: { operation: string; unwanted: readonly Unwanted[] }[];
let close: CloseExpired;

const aTx = (txId: string, progress: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId, state: 'IN_MEMPOOL', nonce: 7n, ...progress }).build();

beforeEach(() => {
  held = [{ signer: SIGNER }];
  [expired, read, asked, closed] = [[aTx('tx')], [aTx('tx')], [], []];
  close = new CloseExpired(
    { heldOn: () => held } as unknown as LeaseManager,
    { expired: async (...args: unknown[]) => (asked.push(args), expired) } as unknown as CommandStore,
    ourWork,
    {
      byIds: async (ids: readonly string[]) => read.filter(({ id }) => ids.includes(id)),
    } as unknown as ManagedTxRepository,
    {
      execute: async (_leases: unknown, operation: string, unwanted: readonly Unwanted[]) =>
        void closed.push({ operation, unwanted }),
    } as unknown as CloseUnwanted,
  );
});

const closedIds = (): string[] => closed.flatMap(({ unwanted }) => unwanted.map(({ tx }) => tx.id));

describe('txs in flight whose end has passed', () => {
  it('are asked for of the signers whose leases this node has, a few hundred at once', async () => {
    await close.execute(DEV_CHAIN);
    expect(asked).toEqual([[DEV_CHAIN, [SIGNER], 500]]);
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
    for (const { tx, end } of closed[0]?.unwanted ?? []) end(tx);
    expect(read[0]?.state).toBe('DROPPED');
  });

  it.each<[string, Partial<TxProgress>]>([
    ['was mined', { state: 'MINED' }],
    ['has ended', { state: 'CONFIRMED' }],
    ['waits for another nonce', { state: 'PENDING', nonce: null }],
    ['is closed', { closing: { as: 'FAILED', reason: 'refused', won: false } }],
    ['was replaced', { replacedBy: 'other' }],
    ['is a fill', { kind: 'fill' }],
  ])('are left alone when the signer’s worker finds one that %s meanwhile', async (_what, progress) => {
    expired = [aTx('moved'), aTx('tx')];
    read = [aTx('moved', progress), aTx('tx')];
    await close.execute(DEV_CHAIN);
    expect(closedIds()).toEqual(['tx']);
  });

  it('are not asked for on a chain on which this node has no lease', async () => {
    held = [];
    await close.execute(DEV_CHAIN);
    expect([asked, closed]).toEqual([[], []]);
  });
});
