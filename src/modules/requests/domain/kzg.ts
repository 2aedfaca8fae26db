import type { Hash } from '../../../kernel/hex.js';
import type { BlobSidecar } from '../../chain/index.js';

/** The sidecar of blobs, and what their transaction contains of them. */
export interface ProvenBlobs {
  readonly sidecar: BlobSidecar;
  /** Versioned hashes (EIP-4844). */
  readonly hashes: readonly Hash[];
}

/** Commits to blobs and proves them (KZG). */
export abstract class Kzg {
  /**
   * Takes a third of a second for each blob, outside the event loop.
   * @param blobs of 131,072 bytes each, made of canonical field elements
   * @param places of those for requests with blobs; all without it
   * @throws Unavailable `blobs_busy` when too many requests with blobs wait; `kzg_unavailable` where the library does not run
   */
  abstract prove(blobs: readonly Uint8Array[], places?: number): Promise<ProvenBlobs>;
}
