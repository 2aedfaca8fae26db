import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { DasContextJs } from '@crate-crypto/node-eth-kzg';
import { messageOf, Unavailable } from '../../../kernel/errors.js';
import { type Hash, parseHash } from '../../../kernel/hex.js';
import { Kzg, type ProvenBlobs } from '../domain/kzg.js';

/** The most requests with blobs, the running one included: each holds up to a megabyte and takes up to two seconds. */
const MAX_WAITING = 16;
/** First byte of a versioned hash: the version of KZG. */
const KZG_VERSION = '01';

interface Proven {
  readonly blob: Uint8Array;
  readonly commitment: Uint8Array;
  readonly blobProof: Uint8Array;
  readonly cellProofs: Uint8Array;
}

/** Proves blobs with rust-eth-kzg, in the thread pool of Node (docs/decisions/0023-kzg.md). One request at a time. */
@Injectable()
export class NativeKzg extends Kzg {
  private context: Promise<DasContextJs> | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  async prove(blobs: readonly Uint8Array[]): Promise<ProvenBlobs> {
    if (this.waiting >= MAX_WAITING)
      throw new Unavailable('blobs_busy', 'too many requests with blobs are being proven', 'try again later');
    this.waiting += 1;
    const turn = this.last.then(() => this.proveNow(blobs));
    this.last = turn.catch(() => null);
    try {
      return await turn;
    } finally {
      this.waiting -= 1;
    }
  }

  private async proveNow(blobs: readonly Uint8Array[]): Promise<ProvenBlobs> {
    const context = await (this.context ??= load());
    const proven: Proven[] = [];
    for (const blob of blobs) proven.push(await proveBlob(context, blob));
    return {
      hashes: proven.map(({ commitment }) => versionedHash(commitment)),
      sidecar: {
        blobs,
        commitments: proven.map(({ commitment }) => commitment),
        blobProofs: proven.map(({ blobProof }) => blobProof),
        cellProofs: proven.map(({ cellProofs }) => cellProofs),
      },
    };
  }
}

/** Not before the first blob: loading takes time, and platforms without a binary only lose blobs. */
async function load(): Promise<DasContextJs> {
  try {
    const { DasContextJs: Context } = await import('@crate-crypto/node-eth-kzg');
    // With precomputed tables it would be a third faster, and take 2.4 s and 100 MB at the start.
    return Context.create({ usePrecomp: false });
  } catch (error) {
    throw new Unavailable(
      'kzg_unavailable',
      `the KZG library does not run here: ${messageOf(error)}`,
      'send blobs to a Lockstep node on Linux (glibc), macOS or Windows',
    );
  }
}

async function proveBlob(context: DasContextJs, blob: Uint8Array): Promise<Proven> {
  const commitment = await context.asyncBlobToKzgCommitment(blob);
  const blobProof = await context.asyncComputeBlobKzgProof(blob, commitment);
  const { proofs } = await context.asyncComputeCellsAndKzgProofs(blob);
  return { blob, commitment, blobProof, cellProofs: Buffer.concat(proofs) };
}

function versionedHash(commitment: Uint8Array): Hash {
  return parseHash(`0x${KZG_VERSION}${createHash('sha256').update(commitment).digest('hex').slice(2)}`);
}
