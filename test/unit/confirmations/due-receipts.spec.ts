import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/lockstep-config.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { DueReceipts } from '../../../src/modules/confirmations/application/due-receipts.js';
import type { LeaseManager, SlotRef } from '../../../src/modules/signers/index.js';
import type {
  Attempt,
  AttemptRepository,
  ManagedTx,
  ManagedTxRepository,
} from '../../../src/modules/transactions/index.js';
import { aHash, aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';

const [ALICE, BOB] = [aSigner(1), aSigner(2)];

/** Whose leases this node has. */
let held: SignerId[];
let txs: ManagedTx[];
let attempts: Attempt[];
/** What the repository was asked for: of whom, and how many at most. */
let asked: { readonly signers: readonly SignerId[]; readonly limit: number }[];
let slots: readonly SlotRef[];
let due: DueReceipts;
const config = Object.assign(new ConfirmationsConfig(), { receiptWorkers: 3 });

beforeEach(() => {
  held = [ALICE, BOB];
  [txs, attempts, asked, slots] = [[], [], [], []];
  due = new DueReceipts(
    { heldOn: () => held.map((signer) => ({ signer })) } as unknown as LeaseManager,
    {
      dueForReceiptCheck: async (_chain: unknown, signers: readonly SignerId[], limit: number) => {
        asked.push({ signers, limit });
        return txs;
      },
    } as unknown as ManagedTxRepository,
    {
      ofSlots: async (some: readonly SlotRef[]) => {
        slots = some;
        return attempts;
      },
    } as unknown as AttemptRepository,
    config,
  );
});

const sent = (txId: string, signer: SignerId, nonce: bigint): ManagedTx =>
  aManagedTx({ txId, signer }).allocated(nonce).sent().build();

describe('txs whose receipts are due', () => {
  it('are read for the signers whose leases this node has, as many as the workers take in one call each', async () => {
    await due.execute(DEV_CHAIN);
    expect(asked).toEqual([{ signers: [ALICE, BOB], limit: 150 }]);
  });

  it('are none, without a query, on a chain on which this node has no lease', async () => {
    held = [];
    expect(await due.execute(DEV_CHAIN)).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('come with all attempts of their slots, each with its own', async () => {
    txs = [sent('tx-a', ALICE, 4n), sent('tx-b', BOB, 9n), sent('tx-c', BOB, 10n)];
    const [first, second] = [1, 2].map((n) => anAttempt({ signer: ALICE, nonce: 4n, txId: 'tx-a', txHash: aHash(n) }));
    const third = anAttempt({ signer: BOB, nonce: 9n, txId: 'tx-b', txHash: aHash(3) });
    const withoutTx = anAttempt({ signer: BOB, nonce: 10n, txId: null, txHash: aHash(4) });
    attempts = [first, third, withoutTx, second] as Attempt[];
    expect(await due.execute(DEV_CHAIN)).toEqual([
      { signer: ALICE, tx: txs[0], attempts: [first, second] },
      { signer: BOB, tx: txs[1], attempts: [third] },
      { signer: BOB, tx: txs[2], attempts: [] },
    ]);
    expect(slots).toEqual([
      { signer: ALICE, nonce: 4n },
      { signer: BOB, nonce: 9n },
      { signer: BOB, nonce: 10n },
    ]);
  });
});
