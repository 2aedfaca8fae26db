import { describe, expect, it } from '@jest/globals';
import { DasContextJs } from '@crate-crypto/node-eth-kzg';
import { aBlob } from '../../support/builders.js';
import { NativeKzg } from '../../../src/modules/requests/infrastructure/native-kzg.js';

const CELLS = 128;
const kzg = new NativeKzg();

describe('the sidecar of blobs', () => {
  it('has a commitment, a blob proof and cell proofs that verify, each in its place', async () => {
    const blobs = [aBlob(3), aBlob(7)];
    const { sidecar, hashes } = await kzg.prove(blobs);
    const context = DasContextJs.create({ usePrecomp: false });
    const { commitments, blobProofs, cellProofs } = sidecar;
    expect(context.verifyBlobKzgProofBatch(blobs, [...commitments], [...blobProofs])).toBe(true);
    expect(context.verifyBlobKzgProofBatch(blobs, [...commitments], [...blobProofs].reverse())).toBe(false);
    const cellIndexes = Array.from({ length: CELLS }, (_, cell) => cell);
    blobs.forEach((blob, at) => {
      const commitment = commitments[at] ?? new Uint8Array();
      const proofs = cellIndexes.map(
        (cell) => cellProofs[at]?.subarray(cell * 48, (cell + 1) * 48) ?? new Uint8Array(),
      );
      const of = cellIndexes.map(() => commitment);
      expect(context.verifyCellKzgProofBatch(of, cellIndexes, context.computeCells(blob), proofs)).toBe(true);
    });
    expect(hashes).toHaveLength(2);
    expect(hashes.every((hash) => hash.startsWith('0x01'))).toBe(true);
  });

  it('has the versioned hash that is known for a blob of zeros', async () => {
    const { hashes } = await kzg.prove([new Uint8Array(131_072)]);
    expect(hashes).toEqual(['0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014']);
  });

  it('is refused for a time when too many wait, and made again after that', async () => {
    const blob = new Uint8Array(131_072);
    const all = await Promise.allSettled(Array.from({ length: 17 }, () => kzg.prove([blob])));
    expect(all.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'blobs_busy' } }]);
    await expect(kzg.prove([blob])).resolves.toBeDefined();
  });

  it('may be asked for within fewer places, which leave the others free', async () => {
    const blob = new Uint8Array(131_072);
    const few = Array.from({ length: 3 }, () => kzg.prove([blob], 2));
    const another = kzg.prove([blob]);
    const all = await Promise.allSettled([...few, another]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  });

  it('of a blob that is none fails alone', async () => {
    const bad = new Uint8Array(131_072).fill(0xff);
    const [wrong, right] = await Promise.allSettled([kzg.prove([bad]), kzg.prove([new Uint8Array(131_072)])]);
    expect([wrong.status, right.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('is refused when the thread ends before it answers, and the next request gets another thread', async () => {
    const own = new NativeKzg();
    const proven = own.prove([new Uint8Array(131_072)]);
    await new Promise(setImmediate);
    await own.onApplicationShutdown();
    await expect(proven).rejects.toMatchObject({ code: 'kzg_unavailable' });
    await expect(own.prove([new Uint8Array(131_072)])).resolves.toBeDefined();
    await own.onApplicationShutdown();
  });
});
