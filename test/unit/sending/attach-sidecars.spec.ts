import { beforeEach, expect, it } from '@jest/globals';
import type { BlobSidecar } from '../../../src/modules/chain/index.js';
import { AttachSidecars } from '../../../src/modules/sending/application/attach-sidecars.js';
import type { BlobRepository } from '../../../src/modules/transactions/index.js';
import { NativeKzg } from '../../../src/modules/transactions/infrastructure/native-kzg.js';
import { anAttempt } from '../../support/builders.js';

const SIDECAR: BlobSidecar = { blobs: [], commitments: [], blobProofs: [], cellProofs: [] };

let asked: (readonly string[])[];
let attach: AttachSidecars;

beforeEach(() => {
  asked = [];
  const blobs = {
    sidecars: async (txIds: readonly string[]) => (asked.push(txIds), new Map([['known', SIDECAR]])),
  };
  attach = new AttachSidecars(blobs as unknown as BlobRepository);
});

it('attempts without blobs are sent as they are, and cost no read', async () => {
  const { txHash, raw } = anAttempt();
  expect(await attach.execute([anAttempt()])).toEqual([{ hash: txHash, raw }]);
  expect(asked).toEqual([]);
});

it('all attempts of a tx get its stored sidecar, which is read once', async () => {
  const attempt = anAttempt({ type: 3, txId: 'known' });
  const [first, second] = await attach.execute([attempt, attempt]);
  expect([first?.sidecar, second?.sidecar]).toEqual([SIDECAR, SIDECAR]);
  expect(asked).toEqual([['known']]);
});

it('an attempt whose sidecar was deleted is sent without, and refused', async () => {
  const { txHash, raw } = anAttempt();
  expect(await attach.execute([anAttempt({ type: 3, txId: 'pruned' })])).toEqual([{ hash: txHash, raw }]);
});

it.each(['cancel', 'fill'] as const)(
  'a %s gets a blob of zeros, with the proofs that KZG computes for it',
  async (kind) => {
    const [sent] = await attach.execute([anAttempt({ type: 3, kind, txId: 'known' })]);
    const { sidecar } = await new NativeKzg().prove([new Uint8Array(131_072)]);
    const inHex = ({ blobs, commitments, blobProofs, cellProofs }: BlobSidecar) =>
      [blobs, commitments, blobProofs, cellProofs].map(([item]) => Buffer.from(item ?? []).toString('hex'));
    expect(inHex(sent?.sidecar ?? SIDECAR)).toEqual(inHex(sidecar));
    expect(asked).toEqual([]);
  },
);
