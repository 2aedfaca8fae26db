import { parentPort } from 'node:worker_threads';
import { DasContextJs } from '@crate-crypto/node-eth-kzg';
import { messageOf } from '../../../kernel/errors.js';

/* The thread of NativeKzg. A library that does not load ends it. */

interface ProvenBlob {
  readonly commitment: Uint8Array;
  readonly blobProof: Uint8Array;
  readonly cellProofs: Uint8Array;
}

/** What the thread answers to a list of blobs. */
export type KzgAnswer = { readonly proven: readonly ProvenBlob[] } | { readonly error: string };

// With precomputed tables it would be a third faster, and take 2.4 s and 100 MB at the start.
const context = DasContextJs.create({ usePrecomp: false });

function proveBlob(blob: Uint8Array): ProvenBlob {
  const commitment = context.blobToKzgCommitment(blob);
  const blobProof = context.computeBlobKzgProof(blob, commitment);
  const { proofs } = context.computeCellsAndKzgProofs(blob);
  return { commitment, blobProof, cellProofs: Buffer.concat(proofs) };
}

function answerTo(blobs: readonly Uint8Array[]): KzgAnswer {
  try {
    return { proven: blobs.map(proveBlob) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

parentPort?.on('message', (blobs: readonly Uint8Array[]) => parentPort?.postMessage(answerTo(blobs)));
