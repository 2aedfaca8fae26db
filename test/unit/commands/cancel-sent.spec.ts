import { beforeEach, expect, it } from '@jest/globals';
import { CancelSent } from '../../../src/modules/commands/application/cancel-sent.js';
import type { CloseUnwanted, Unwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import type { ManagedTx, ManagedTxRepository } from '../../../src/modules/transactions/index.js';
import type { TxProgress } from '../../../src/modules/transactions/domain/managed-tx.js';
import { aCommand, aManagedTx, aSigner } from '../../support/builders.js';

const LEASES: Lease[] = [{ signer: aSigner(), owner: 'node', token: 1n }];
const COMMAND = aCommand({ kind: 'cancel' });

let txs: ManagedTx[];
let closed: { leases: readonly Lease[]; operation: string; unwanted: readonly Unwanted[] }[];
let cancel: CancelSent;

beforeEach(() => {
  [txs, closed] = [[], []];
  cancel = new CancelSent(
    {
      byIds: async (ids: readonly string[]) => txs.filter(({ id }) => ids.includes(id)),
    } as unknown as ManagedTxRepository,
    {
      execute: async (leases: readonly Lease[], operation: string, unwanted: readonly Unwanted[]) =>
        void closed.push({ leases, operation, unwanted }),
    } as unknown as CloseUnwanted,
  );
});

async function cancelled(progress: Partial<TxProgress>) {
  txs = [aManagedTx({ txId: COMMAND.txId, nonce: 7n, ...progress }).build()];
  return cancel.execute(LEASES, COMMAND);
}

it.each(['PENDING', 'ALLOCATED', 'IN_MEMPOOL'] as const)('a tx that is %s is closed as cancelled', async (state) => {
  expect(await cancelled({ state })).toEqual({ commandId: 'command-1', refusal: null });
  expect(closed).toMatchObject([
    { leases: LEASES, operation: 'cancel', unwanted: [{ tx: { id: 'tx' }, reason: 'cancelled by its client' }] },
  ]);
});

it('what was never sent ends CANCELLED with that reason', async () => {
  await cancelled({ state: 'ALLOCATED' });
  const [{ tx, end } = { tx: aManagedTx().build(), end: () => undefined }] = closed[0]?.unwanted ?? [];
  end(tx);
  expect(tx).toMatchObject({ state: 'CANCELLED', progress: { failureReason: 'cancelled by its client' } });
});

it('a cancel that is carried out twice is done, and changes nothing', async () => {
  const closing = { as: 'CANCELLED', reason: 'cancelled by its client', won: false } as const;
  expect(await cancelled({ state: 'IN_MEMPOOL', closing })).toEqual({ commandId: 'command-1', refusal: null });
  expect(closed).toEqual([]);
});

it.each<[Partial<TxProgress>, string]>([
  [{ state: 'MINED' }, 'the transaction is in a block'],
  [{ state: 'CONFIRMED' }, 'the transaction is CONFIRMED'],
  [{ state: 'IN_MEMPOOL', replacedBy: 'other' }, 'the transaction other competes for its nonce'],
])('a cancel that comes too late is refused: %j', async (progress, refusal) => {
  expect(await cancelled(progress)).toEqual({ commandId: 'command-1', refusal });
  expect(closed).toEqual([]);
});

it('a cancel of an unknown tx is refused', async () => {
  expect(await cancel.execute(LEASES, COMMAND)).toEqual({ commandId: 'command-1', refusal: 'no such transaction' });
});
