import { beforeEach, expect, it } from '@jest/globals';
import { CloseUnwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { AttemptRepository, type ManagedTx, ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aCommand, aManagedTx, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const LEASES: Lease[] = [{ signer: aSigner(), owner: 'node', token: 1n }];
const COMMAND = aCommand({ kind: 'cancel' });

let txs: ManagedTx[];
let writes: RecordedWrites;
let unwanted: CloseUnwanted;

beforeEach(() => {
  [txs, writes] = [[], new RecordedWrites()];
  unwanted = new CloseUnwanted(
    fakeOf(ManagedTxRepository, {
      byIds: async (ids: readonly string[]) => txs.filter(({ id }) => ids.includes(id)),
    }),
    fakeOf(AttemptRepository, { ofSlots: async () => [] }),
    writes.asDoor(),
  );
});

async function cancelled(progress: Partial<TxProgress>) {
  txs = [aManagedTx({ txId: COMMAND.txId, nonce: 7n, ...progress }).build()];
  return unwanted.cancel(LEASES, COMMAND);
}

it('a tx that was never sent ends CANCELLED with that reason', async () => {
  expect(await cancelled({ state: 'ALLOCATED' })).toEqual({ commandId: 'command-1', refusal: null });
  expect(writes.written).toMatchObject([{ operation: 'cancel', tokens: [1n] }]);
  expect(writes.txs).toMatchObject([
    { id: 'tx', state: 'CANCELLED', progress: { failureReason: 'cancelled by its client' } },
  ]);
});

it('a tx that has no nonce any more ends CANCELLED, too', async () => {
  expect(await cancelled({ state: 'PENDING', nonce: null })).toEqual({ commandId: 'command-1', refusal: null });
  expect(writes.txs).toMatchObject([{ id: 'tx', state: 'CANCELLED' }]);
});

it('a tx that is in the mempool is closed as cancelled', async () => {
  expect(await cancelled({ state: 'IN_MEMPOOL' })).toEqual({ commandId: 'command-1', refusal: null });
  const closing = { as: 'CANCELLED', reason: 'cancelled by its client', won: false };
  expect(writes.txs).toMatchObject([{ id: 'tx', state: 'IN_MEMPOOL', progress: { closing } }]);
});

it('a cancel that is carried out twice is done, and changes nothing', async () => {
  const closing = { as: 'CANCELLED', reason: 'cancelled by its client', won: false } as const;
  expect(await cancelled({ state: 'IN_MEMPOOL', closing })).toEqual({ commandId: 'command-1', refusal: null });
  expect(writes.written).toEqual([]);
});

it.each<[string, Partial<TxProgress>]>([
  ['MINED', { state: 'MINED', closing: { as: 'CANCELLED', reason: 'cancelled by its client', won: true } }],
  ['CANCELLED', { state: 'CANCELLED', failureReason: 'cancelled by its client' }],
])('a cancel that was carried out is done, also when the tx is %s by then', async (_state, progress) => {
  expect(await cancelled(progress)).toEqual({ commandId: 'command-1', refusal: null });
  expect(writes.written).toEqual([]);
});

it.each<[Partial<TxProgress>, string]>([
  [{ state: 'MINED', closing: { as: 'CANCELLED', reason: 'expired', won: true } }, 'the transaction is in a block'],
  [{ state: 'MINED' }, 'the transaction is in a block'],
  [{ state: 'CONFIRMED' }, 'the transaction is CONFIRMED'],
  [{ state: 'IN_MEMPOOL', replacedBy: 'other' }, 'the transaction other competes for its nonce'],
])('a cancel that comes too late is refused: %j', async (progress, refusal) => {
  expect(await cancelled(progress)).toEqual({ commandId: 'command-1', refusal });
  expect(writes.written).toEqual([]);
});

it('a cancel of an unknown tx is refused', async () => {
  expect(await unwanted.cancel(LEASES, COMMAND)).toEqual({ commandId: 'command-1', refusal: 'no such transaction' });
});
