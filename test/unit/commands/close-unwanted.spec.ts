import { beforeEach, describe, expect, it } from '@jest/globals';
import { CloseUnwanted, type Unwanted } from '../../../src/modules/commands/application/close-unwanted.js';
import { CommandStore } from '../../../src/modules/commands/domain/tx-command.js';
import type { SlotRef } from '../../../src/modules/signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  type ManagedTxRepository,
} from '../../../src/modules/ledger/index.js';
import type { TxState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { FeeRules } from '../../../src/modules/sending/index.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const SIGNER = aSigner();
const LEASES = [{ signer: SIGNER, owner: 'node', token: 1n }];
const SLOT = { signer: SIGNER, nonce: 7n };

let attempts: Attempt[];
let asked: bigint[];
let writes: RecordedWrites;
let custody: KeysOf;
let close: CloseUnwanted;

beforeEach(() => {
  [attempts, asked, writes, custody] = [[], [], new RecordedWrites(), new KeysOf([])];
  close = new CloseUnwanted(
    {} as ManagedTxRepository,
    fakeOf(CommandStore, {}),
    fakeOf(AttemptRepository, {
      ofSlots: async (slots: readonly SlotRef[]) => (asked.push(...slots.map(({ nonce }) => nonce)), attempts),
    }),
    fakeOf(FeeRules, {}),
    writes.asDoor(),
    custody,
  );
});

function unwanted(state: TxState, nonce: bigint | null = 7n): Unwanted {
  const tx = aManagedTx({ txId: `tx-${nonce}`, signer: SIGNER, state, nonce, txHash: aHash(1) }).build();
  return { tx, reason: 'not wanted', end: (copy) => copy.cancelled('not wanted') };
}

const anAttemptThatIs = (status: Attempt['status'], overrides: Partial<Attempt> = {}): Attempt =>
  anAttempt({ ...SLOT, txId: 'tx-7', status, ...overrides });
const closed = async (...items: Unwanted[]): Promise<ManagedTx[]> => {
  await close.close(LEASES, 'cancel', items);
  return writes.txs;
};

describe('a tx that is not wanted any more', () => {
  it('and has no nonce ends at once, and gives nothing back', async () => {
    expect(await closed(unwanted('PENDING', null))).toMatchObject([{ state: 'CANCELLED' }]);
    expect([writes.released, asked]).toEqual([[], []]);
  });

  it('and was never signed ends at once, and gives its slot back in the same commit', async () => {
    expect(await closed(unwanted('ALLOCATED'))).toMatchObject([{ state: 'CANCELLED' }]);
    expect([writes.released, writes.operations]).toEqual([[SLOT], ['cancel']]);
  });

  it('and never left a node ends at once, and gives its slot back', async () => {
    attempts = [anAttemptThatIs('UNSENT'), anAttemptThatIs('UNSENT', { txHash: aHash(2) })];
    expect(await closed(unwanted('ALLOCATED'))).toMatchObject([{ state: 'CANCELLED' }]);
    expect(writes.released).toEqual([SLOT]);
  });

  it.each<Attempt['status']>(['SIGNED', 'REJECTED', 'ACCEPTED', 'UNKNOWN', 'LOST', 'MINED'])(
    'and has an attempt that is %s keeps its slot, which a no-op closes',
    async (status) => {
      attempts = [anAttemptThatIs('UNSENT'), anAttemptThatIs(status, { txHash: aHash(2) })];
      const [tx] = await closed(unwanted('ALLOCATED'));
      expect(tx).toMatchObject({
        state: 'IN_MEMPOOL',
        isClosing: true,
        progress: { closing: { as: 'CANCELLED', reason: 'not wanted', won: false } },
        timers: { resubmit: { inMs: 0 } },
      });
      expect(writes.released).toEqual([]);
    },
  );

  it('keeps its slot also when only another tx of the slot may be out', async () => {
    attempts = [anAttemptThatIs('UNSENT'), anAttemptThatIs('ACCEPTED', { txId: 'original', txHash: aHash(2) })];
    expect(await closed(unwanted('ALLOCATED'))).toMatchObject([{ state: 'IN_MEMPOOL' }]);
    expect(writes.released).toEqual([]);
  });

  it('and was in the mempool keeps its slot, whatever its attempts say', async () => {
    attempts = [anAttemptThatIs('UNSENT')];
    expect(await closed(unwanted('IN_MEMPOOL'))).toMatchObject([{ state: 'IN_MEMPOOL', isClosing: true }]);
    expect(writes.released).toEqual([]);
  });

  it('is told apart from others: by the attempts of its own slot, and all in one commit', async () => {
    attempts = [anAttemptThatIs('ACCEPTED', { nonce: 8n }), anAttemptThatIs('ACCEPTED', { signer: aSigner(2) })];
    const txs = await closed(unwanted('ALLOCATED', 7n), unwanted('ALLOCATED', 8n), unwanted('PENDING', null));
    expect(txs.map(({ state }) => state)).toEqual(['CANCELLED', 'IN_MEMPOOL', 'CANCELLED']);
    expect([writes.released, asked, writes.operations]).toEqual([[SLOT], [7n, 8n], ['cancel']]);
  });
});

it('where outside senders have the key, what may be out goes on: nobody signs a no-op for it', async () => {
  custody.external = [SIGNER];
  attempts = [anAttemptThatIs('ACCEPTED', { nonce: 8n })];
  const items = [unwanted('ALLOCATED', 7n), unwanted('ALLOCATED', 8n), unwanted('PENDING', null)];
  expect(await close.close(LEASES, 'expire', items)).toEqual(['tx-8']);
  expect(writes.txs.map(({ id }) => id)).toEqual(['tx-7', 'tx-null']);
  expect(writes.released).toEqual([SLOT]);
});

it('nothing is written for nothing', async () => {
  expect(await closed()).toEqual([]);
  expect(writes.written).toEqual([]);
});
