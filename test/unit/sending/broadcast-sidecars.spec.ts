import { beforeEach, expect, it } from '@jest/globals';
import { type BlobSidecar, type SignedBytes } from '../../../src/modules/chain/index.js';
import { BroadcastAttempts } from '../../../src/modules/sending/application/broadcast-attempts.js';
import { ClassifySends } from '../../../src/modules/sending/application/classify-sends.js';
import { RecordSends } from '../../../src/modules/sending/application/record-sends.js';
import { type Attempt, BlobRepository } from '../../../src/modules/ledger/index.js';
import { NativeKzg } from '../../../src/modules/requests/infrastructure/native-kzg.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';

const SIDECAR: BlobSidecar = { blobs: [], commitments: [], blobProofs: [], cellProofs: [] };

let asked: (readonly string[])[];
let broadcast: BroadcastAttempts;

beforeEach(() => {
  asked = [];
  const blobs = {
    sidecars: async (txIds: readonly string[]) => (asked.push(txIds), new Map([['known', SIDECAR]])),
  };
  broadcast = new BroadcastAttempts(
    new RecordedWrites().asDoor(),
    fakeOf(BlobRepository, blobs),
    fakeOf(ClassifySends, { execute: async () => [] }),
    fakeOf(RecordSends, { execute: async () => [] }),
    { reached: () => undefined },
    new FakeClock(),
    { pause: () => new Promise(() => undefined) },
  );
});

/** What the chain gets. */
async function sent(...attempts: readonly Attempt[]): Promise<readonly SignedBytes[]> {
  const got: SignedBytes[] = [];
  const chain = fakeOf(EthersChainConnector, {
    chainId: DEV_CHAIN,
    broadcast: async (batch: readonly SignedBytes[]) => (got.push(...batch), batch.map(() => ({ kind: 'accepted' }))),
  });
  const tx = aManagedTx().build();
  await broadcast.execute(
    chain,
    [],
    attempts.map((attempt) => ({ tx, attempt })),
  );
  return got;
}

it('attempts without blobs are sent as they are, and cost no read', async () => {
  const { txHash, raw } = anAttempt();
  expect(await sent(anAttempt())).toEqual([{ hash: txHash, raw }]);
  expect(asked).toEqual([]);
});

it('all attempts of a tx get its stored sidecar, which is read once', async () => {
  const [first, second] = await sent(
    anAttempt({ type: 3, txId: 'known', txHash: aHash(1) }),
    anAttempt({ type: 3, txId: 'known', txHash: aHash(2) }),
  );
  expect([first?.sidecar, second?.sidecar]).toEqual([SIDECAR, SIDECAR]);
  expect(asked).toEqual([['known']]);
});

it('an attempt whose sidecar was deleted is sent without, and refused', async () => {
  const { txHash, raw } = anAttempt();
  expect(await sent(anAttempt({ type: 3, txId: 'pruned' }))).toEqual([{ hash: txHash, raw }]);
});

it.each(['cancel', 'fill'] as const)(
  'a %s gets a blob of zeros, with the proofs that KZG computes for it',
  async (kind) => {
    const [bytes] = await sent(anAttempt({ type: 3, kind, txId: 'known' }));
    const { sidecar } = await new NativeKzg().prove([new Uint8Array(131_072)]);
    const inHex = ({ blobs, commitments, blobProofs, cellProofs }: BlobSidecar) =>
      [blobs, commitments, blobProofs, cellProofs].map(([item]) => Buffer.from(item ?? []).toString('hex'));
    expect(inHex(bytes?.sidecar ?? SIDECAR)).toEqual(inHex(sidecar));
    expect(asked).toEqual([]);
  },
);
