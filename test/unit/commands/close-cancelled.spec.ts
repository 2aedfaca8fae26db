import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ChainAnswers, NOTHING_ASKED } from '../../../src/modules/commands/application/ask-chain.js';
import { CloseUnwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import { CommandStore } from '../../../src/modules/commands/domain/tx-command.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  ManagedTxRepository,
} from '../../../src/modules/ledger/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { FeeRules } from '../../../src/modules/sending/index.js';
import type { Bump } from '../../../src/modules/sending/domain/fee-bump.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aCommand, aManagedTx, anAttempt, aSigner, FREE_QUOTE } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const LEASES: Lease[] = [{ signer: aSigner(), owner: 'node', token: 1n }];
const COMMAND = { ...aCommand(), kind: 'cancel' as const };

const FREE = { quote: FREE_QUOTE, gas: new Map() };

let txs: ManagedTx[];
let attempts: Attempt[];
/** The next price of the slot. */
let bump: Bump;
let writes: RecordedWrites;
/** A consume waits for its owner. */
let isConsumed: boolean;
let custody: KeysOf;
let unwanted: CloseUnwanted;

beforeEach(() => {
  [txs, attempts, writes, isConsumed] = [[], [], new RecordedWrites(), false];
  bump = { kind: 'fees', fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } };
  custody = new KeysOf([]);
  unwanted = new CloseUnwanted(
    fakeOf(ManagedTxRepository, {
      byIds: async (ids: readonly string[]) => txs.filter(({ id }) => ids.includes(id)),
    }),
    fakeOf(CommandStore, { hasQueued: async (_txId, kind) => kind === 'consume' && isConsumed }),
    fakeOf(AttemptRepository, { ofSlots: async () => attempts }),
    fakeOf(FeeRules, { bumped: () => bump }),
    writes.asDoor(),
    custody,
  );
});

const NO_CAPS = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, maxFeePerBlobGas: 0n };

async function cancelled(progress: Partial<TxProgress>, said: ChainAnswers = NOTHING_ASKED) {
  txs = [aManagedTx({ txId: COMMAND.txId, nonce: 7n, ...progress }).build()];
  return unwanted.cancel(LEASES, COMMAND, said);
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
  expect(await unwanted.cancel(LEASES, COMMAND, NOTHING_ASKED)).toEqual({
    commandId: 'command-1',
    refusal: 'no such transaction',
  });
});

describe('a close of a hold', () => {
  const CLOSED = 'closed by an operator, with the word of its outside sender';
  const close = async (progress: Partial<TxProgress>) => {
    txs = [aManagedTx({ txId: COMMAND.txId, kind: 'hold', nonce: 7n, ...progress }).build()];
    return unwanted.cancel(LEASES, { ...COMMAND, kind: 'close' }, NOTHING_ASKED);
  };

  it.each(['ALLOCATED', 'IN_MEMPOOL'] as const)(
    'that is %s never gives its nonce back: something may be out that nobody sees',
    async (state) => {
      expect(await close({ state })).toEqual({ commandId: 'command-1', refusal: null });
      expect(writes.written).toMatchObject([{ changes: { slots: { released: [] } } }]);
      const closing = { as: 'CANCELLED', reason: CLOSED, won: false };
      expect(writes.txs).toMatchObject([{ state: 'IN_MEMPOOL', progress: { closing, subState: 'CANCELLING' } }]);
      // Nobody is told that its sender has used it.
      expect(writes.txs.flatMap((tx) => tx.pendingEvents()).map(({ reason }) => reason)).toEqual(['updated']);
    },
  );

  it('is refused where nobody here can sign its no-op, and nothing is written', async () => {
    custody.external = [aManagedTx().build().signer];
    expect(await close({ state: 'IN_MEMPOOL' })).toMatchObject({ refusal: expect.stringContaining('external') });
    expect(writes.written).toEqual([]);
  });

  it('that was carried out is done, whatever the chain has decided by then', async () => {
    const closing = { as: 'CANCELLED', reason: CLOSED, won: false } as const;
    for (const state of ['IN_MEMPOOL', 'MINED', 'CONFIRMED'] as const)
      expect(await close({ state, closing })).toEqual({ commandId: 'command-1', refusal: null });
    expect(await close({ state: 'CONFIRMED' })).toMatchObject({ refusal: 'the hold is CONFIRMED' });
    expect(writes.written).toEqual([]);
  });
});

describe('a cancel of what was sent for free', () => {
  const inPool = (maxFeePerGas: bigint) =>
    (attempts = [anAttempt({ status: 'SIGNED', fees: { maxFeePerGas, maxPriorityFeePerGas: 0n } })]);

  it('asks the chain first, and nothing else does', async () => {
    inPool(0n);
    expect(await cancelled({ state: 'IN_MEMPOOL' })).toBeNull();
    expect(writes.written).toEqual([]);
    inPool(1n);
    expect(await cancelled({ state: 'IN_MEMPOOL' })).toEqual({ commandId: 'command-1', refusal: null });
  });

  it.each<[Bump, string]>([
    [{ kind: 'unaffordable' }, 'gas is free, and the balance of the signer does not cover a price above 0'],
    [{ kind: 'capped', caps: NO_CAPS }, 'a higher price is above the caps'],
  ])('is refused when nothing can outbid it, and nothing is written: %j', async (price, refusal) => {
    inPool(0n);
    bump = price;
    expect(await cancelled({ state: 'IN_MEMPOOL' }, { ...FREE, balance: 0n })).toEqual({
      commandId: 'command-1',
      refusal,
    });
    expect(writes.written).toEqual([]);
  });

  it('closes it when its account can pay a little', async () => {
    inPool(0n);
    expect(await cancelled({ state: 'IN_MEMPOOL' }, { ...FREE, balance: 21_000n })).toMatchObject({ refusal: null });
    expect(writes.txs).toMatchObject([{ id: 'tx', progress: { closing: { as: 'CANCELLED' } } }]);
  });

  it('is never refused while a no-op competes with it already: that one may cancel it', async () => {
    inPool(0n);
    bump = { kind: 'unaffordable' };
    const closing = { as: 'PENDING', reason: 'no node takes it', won: false } as const;
    expect(await cancelled({ state: 'IN_MEMPOOL', closing })).toEqual({ commandId: 'command-1', refusal: null });
  });
});

it('a hold is not given back while a consume of it waits, which came later', async () => {
  const release = { ...COMMAND, kind: 'release' as const };
  const hold = () => aManagedTx({ txId: COMMAND.txId, kind: 'hold', state: 'ALLOCATED', nonce: 7n }).build();
  [txs, isConsumed] = [[hold()], true];
  const decision = await unwanted.cancel(LEASES, release, NOTHING_ASKED);
  expect([decision?.refusal, writes.written]).toEqual(['a transaction with its nonce may be out', []]);
  [txs, isConsumed] = [[hold()], false];
  expect(await unwanted.cancel(LEASES, release, NOTHING_ASKED)).toEqual({ commandId: 'command-1', refusal: null });
});
