import { Injectable } from '@nestjs/common';
import { BLOB_BYTES, type BlobSidecar, CELLS_PER_BLOB, type SignedBytes } from '../../chain/index.js';
import { type Attempt, BlobRepository } from '../../transactions/index.js';

/** The commitment and the proofs of a blob of zeros: the point at infinity. */
const INFINITY = Buffer.alloc(48);
INFINITY[0] = 0xc0;
/** Of the no-ops that compete with blob transactions. */
const EMPTY_BLOB: BlobSidecar = {
  blobs: [Buffer.alloc(BLOB_BYTES)],
  commitments: [INFINITY],
  blobProofs: [INFINITY],
  cellProofs: [Buffer.concat(Array.from({ length: CELLS_PER_BLOB }, () => INFINITY))],
};

/** Adds the blobs to the attempts of type 3. All attempts of a tx share one stored sidecar; their bytes do not contain it. */
@Injectable()
export class AttachSidecars {
  constructor(private readonly blobs: BlobRepository) {}

  /** In the given order. Reads the database only when there are blobs of clients. */
  async execute(attempts: readonly Attempt[]): Promise<SignedBytes[]> {
    const withBlobs = attempts.filter(({ type, kind }) => type === 3 && kind === 'payload');
    const txIds = [...new Set(withBlobs.flatMap(({ txId }) => txId ?? []))];
    const sidecars = txIds.length === 0 ? new Map<string, BlobSidecar>() : await this.blobs.sidecars(txIds);
    return attempts.map(({ txHash: hash, raw, type, kind, txId }) => {
      if (type !== 3) return { hash, raw };
      // Without its sidecar a node refuses it.
      const sidecar = kind === 'payload' ? sidecars.get(txId ?? '') : EMPTY_BLOB;
      return sidecar ? { hash, raw, sidecar } : { hash, raw };
    });
  }
}
