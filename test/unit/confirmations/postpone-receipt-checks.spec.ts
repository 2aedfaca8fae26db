import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/lockstep-config.js';
import { PostponeReceiptChecks } from '../../../src/modules/confirmations/application/check-receipts.js';
import type { ManagedTx, PostponeDue } from '../../../src/modules/ledger/index.js';
import type { TxSubState } from '../../../src/modules/ledger/domain/tx-state-machine.js';
import { aHash, aManagedTx, DEV_CHAIN } from '../../support/builders.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const TX = 'tx-1';
/** After what is no answer, and while a nonce is in doubt. */
const SOON_MS = 2_000;
const config = new ConfirmationsConfig();

let txs: TxsInMemory;
/** What could not be written. */
let later: string[][];
let postpone: PostponeReceiptChecks;

beforeEach(() => {
  txs = new TxsInMemory();
  later = [];
  const postponeDue = {
    execute: async (timer: string, some: readonly ManagedTx[]) => void later.push([timer, ...some.map(({ id }) => id)]),
  } as unknown as PostponeDue;
  postpone = new PostponeReceiptChecks(ourWork, txs.asRepository(), txs.writes.asDoor(), postponeDue, config);
});

function sent(txId: string, subState: TxSubState | null): ManagedTx {
  const tx = aManagedTx({ txId }).allocated(0n).build();
  tx.sent(aHash(1), subState, { resubmit: 'keep', receiptCheck: 'keep' }, null);
  txs.put(tx);
  return tx;
}

const missing = (tx: ManagedTx, answered: boolean) => ({ signer: tx.signer, tx, attempts: [], answered });

describe('a tx without a receipt', () => {
  it.each([
    ['soon, while its nonce is in doubt', 'NONCE_SYNC' as const, true, SOON_MS],
    ['soon, when there was no answer', null, false, SOON_MS],
    ['when what was said may be stale', null, true, config.staleReceiptTimeout],
  ])('is looked at again %s', async (_when, subState, answered, inMs) => {
    await postpone.execute(DEV_CHAIN, [missing(sent(TX, subState), answered)], []);
    expect([txs.looksInMs, txs.writes.operations]).toEqual([[inMs], ['receipt_missing']]);
  });

  it('says what is wrong with an answer that decides nothing, until it is sent or mined', async () => {
    const tx = sent(TX, null);
    await postpone.execute(DEV_CHAIN, [{ ...missing(tx, false), unclear: 'no status (#0)' }], []);
    expect([txs.of(TX).lastError, txs.looksInMs]).toEqual(['no status (#0)', [SOON_MS]]);
    await postpone.execute(DEV_CHAIN, [missing(tx, true)], []);
    expect(txs.of(TX).lastError).toBe('no status (#0)');
  });

  it('is looked at again when its own answer says, also beside others', async () => {
    const some = [missing(sent('tx-1', null), true), missing(sent('tx-2', null), false)];
    await postpone.execute(DEV_CHAIN, some, []);
    expect([txs.saved, txs.looksInMs]).toEqual([
      ['tx-1', 'tx-2'],
      [config.staleReceiptTimeout, SOON_MS],
    ]);
  });

  it('whose slot was closed since it was read is looked at again soon', async () => {
    const tx = sent(TX, null);
    const closed = sent(TX, null);
    closed.close('FAILED', 'refused');
    txs.put(closed);
    await postpone.execute(DEV_CHAIN, [missing(tx, true)], []);
    expect(txs.looksInMs).toEqual([SOON_MS]);
  });

  it('is not looked at again when it was mined meanwhile', async () => {
    const tx = sent(TX, null);
    txs.put(aManagedTx({ txId: TX }).allocated(0n).sent().mined().build());
    await postpone.execute(DEV_CHAIN, [missing(tx, true)], []);
    expect([txs.looksInMs, txs.saved]).toEqual([[], []]);
  });

  it('is due later when that cannot be written, so that it does not come first again', async () => {
    const tx = sent(TX, null);
    await postpone.execute(DEV_CHAIN, [missing(tx, true)], []);
    txs.writes.onWrite = () => {
      throw new Error('no database');
    };
    await expect(postpone.execute(DEV_CHAIN, [missing(tx, true)], [])).rejects.toThrow('no database');
    expect(later).toEqual([['receiptCheck'], ['receiptCheck', TX]]);
  });

  it('is due later, too, when it has one that could not be recorded', async () => {
    await postpone.execute(DEV_CHAIN, [], [sent(TX, null)]);
    expect([txs.looksInMs, later]).toEqual([[], [['receiptCheck', TX]]]);
  });
});
