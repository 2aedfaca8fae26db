import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { RecheckReceipts } from '../../../src/modules/confirmations/application/match-attempts.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { LaneMemory, LeasedWork } from '../../../src/modules/ledger/index.js';
import { aManagedTx, anAttempt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { TxsInMemory } from './txs-in-memory.js';
import { ourWork } from '../../support/fakes/our-work.js';

const [FINE, TROUBLED] = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: 1n })) as [Lease, Lease];

let txs: TxsInMemory;
let forgotten: SignerId[];

beforeEach(() => {
  txs = new TxsInMemory();
  forgotten = [];
});

function recheckReceipts(work: LeasedWork = ourWork): RecheckReceipts {
  return new RecheckReceipts(
    { heldOn: () => [FINE, TROUBLED] } as unknown as LeaseManager,
    work,
    txs.asRepository(),
    txs.writes.asDoor(),
    { forget: (signers: readonly SignerId[]) => forgotten.push(...signers) } as unknown as LaneMemory,
  );
}

describe('after a gap', () => {
  it('all receipts of this node’s signers are asked for', async () => {
    await recheckReceipts().forAll(DEV_CHAIN);
    expect(txs.writes.receiptsAsked).toEqual([{ leases: [FINE, TROUBLED], operation: 'recheck' }]);
    expect(forgotten).toEqual([]);
  });

  it('who cannot be asked for now has its lane recover, which asks for all receipts, too', async () => {
    await recheckReceipts({ run: async () => [TROUBLED] } as unknown as LeasedWork).forAll(DEV_CHAIN);
    expect(forgotten).toEqual([TROUBLED.signer]);
  });
});

describe('what a block has, and the node has no receipt for', () => {
  const attempt = anAttempt({ txId: 'tx-1' });

  it('is asked for at the next look', async () => {
    txs.put(aManagedTx({ txId: 'tx-1' }).allocated(7n).sent().build());
    expect(await recheckReceipts().execute(DEV_CHAIN, [attempt])).toEqual([]);
    expect([txs.saved, txs.looksInMs, txs.writes.operations]).toEqual([['tx-1'], [0], ['recheck']]);
  });

  it('is not asked for when it is mined by now', async () => {
    txs.put(aManagedTx({ txId: 'tx-1' }).allocated(7n).sent().mined().build());
    await recheckReceipts().execute(DEV_CHAIN, [attempt]);
    expect(txs.saved).toEqual([]);
  });

  it('and cannot be noted now is told to the caller', async () => {
    const work = { run: async () => [attempt] } as unknown as LeasedWork;
    expect(await recheckReceipts(work).execute(DEV_CHAIN, [attempt])).toEqual([attempt]);
  });
});
