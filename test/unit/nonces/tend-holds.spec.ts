import { beforeEach, describe, expect, it } from '@jest/globals';
import { AdoptSent, type Findings } from '../../../src/modules/lost-commits/index.js';
import {
  BegunWork,
  type ManagedTx,
  ManagedTxRepository,
  TxsInFlight,
  type WaitingHold,
} from '../../../src/modules/ledger/index.js';
import { type HoldVerdict, LookAtHolds } from '../../../src/modules/nonces/application/look-at-holds.js';
import { EndHolds, TendHolds } from '../../../src/modules/nonces/application/tend-holds.js';
import { LeaseManager } from '../../../src/modules/signers/index.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aHash, aLease, aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { begunWork } from '../../support/fakes/our-work.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { aSentTransaction } from '../../support/sent-builders.js';

const SIGNER = aSigner();
const SENT = aSentTransaction({ account: SIGNER.address, nonce: 7n, hash: aHash(7) });

let verdicts: HoldVerdict[];
let stored: ManagedTx[];
let adopted: Findings[];
let writes: RecordedWrites;
let custody: KeysOf;

const hold = (overrides: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId: 'hold', kind: 'hold', state: 'ALLOCATED', signer: SIGNER, nonce: 7n, ...overrides }).build();

beforeEach(() => {
  [verdicts, stored, adopted, writes, custody] = [[], [hold()], [], new RecordedWrites(), new KeysOf([])];
});

function tend(work: BegunWork = begunWork): Promise<void> {
  const waiting: WaitingHold[] = [{ tx: hold(), isOver: true, isOverdue: false }];
  const adopt = fakeOf(AdoptSent, { execute: async (_lease, findings) => (adopted.push(findings), []) });
  const repository = fakeOf(ManagedTxRepository, { byIds: async () => stored });
  return new TendHolds(
    fakeOf(LeaseManager, { heldOn: () => [aLease(SIGNER)] }),
    fakeOf(TxsInFlight, { waitingHolds: async () => waiting }),
    fakeOf(LookAtHolds, { execute: async () => verdicts }),
    work,
    adopt,
    new EndHolds(repository, writes.asDoor(), custody),
  ).execute(DEV_CHAIN);
}

describe('what the chain says of a hold', () => {
  it('that something is out is compared with our own txs, at this nonce alone', async () => {
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'sent', sent: [SENT] }];
    await tend();
    expect(adopted).toMatchObject([{ outlook: { signer: SIGNER, cursor: 8n, inFlightFrom: 7n, known: true } }]);
    expect(adopted[0]?.unknown).toEqual([SENT]);
    expect(writes.written).toEqual([]);
  });

  it('that it is unused ends it, and gives its slot back in the same commit', async () => {
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'unused' }];
    await tend();
    expect(writes.written.map(({ changes }) => changes)).toMatchObject([
      { txs: [{ state: 'CANCELLED' }], slots: { released: [{ signer: SIGNER, nonce: 7n }] } },
    ]);
  });

  it('that its nonce is used gives nothing back', async () => {
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'used' }];
    await tend();
    expect(writes.written.map(({ changes }) => changes)).toMatchObject([
      { txs: [{ state: 'IN_MEMPOOL', isInDoubt: true }], slots: { released: [] } },
    ]);
  });

  it('that nobody proves it unused has a no-op compete for its nonce, and gives nothing back', async () => {
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'unproven' }];
    await tend();
    expect(writes.written.map(({ changes }) => changes)).toMatchObject([
      {
        txs: [{ state: 'IN_MEMPOOL', isClosing: true, progress: { closing: { as: 'CANCELLED' } } }],
        slots: { released: [] },
      },
    ]);
  });

  it('that nobody proves it unused changes nothing where nobody here can sign a no-op; that it is unused ends it', async () => {
    custody.external = [SIGNER];
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'unproven' }];
    await tend();
    expect(writes.written).toEqual([]);
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'unused' }];
    await tend();
    expect(writes.txs).toMatchObject([{ state: 'CANCELLED' }]);
  });

  it('counts for nothing when the hold was changed since, or its lane has not begun', async () => {
    verdicts = [{ tx: hold(), signer: SIGNER, kind: 'unused' }];
    for (const tx of [hold({ version: 1 }), hold({ state: 'IN_MEMPOOL' }), hold({ kind: 'payload' })]) {
      stored = [tx];
      await tend();
    }
    stored = [hold()];
    await tend(fakeOf(BegunWork, { run: async (_chainId, items) => [...items] }));
    expect(writes.written).toEqual([]);
  });
});
