export const BLOB_BYTES = 131_072;
/** EIP-7594: each blob has so many cell proofs. */
export const CELLS_PER_BLOB = 128;

/** What travels beside a blob transaction, and is no part of its hash (EIP-4844). */
export interface BlobSidecar {
  /** Of {@link BLOB_BYTES} each. */
  readonly blobs: readonly Uint8Array[];
  /** KZG commitments, 48 bytes each. */
  readonly commitments: readonly Uint8Array[];
  /** One of 48 bytes for each blob; demanded until the fork Osaka. */
  readonly blobProofs: readonly Uint8Array[];
  /** {@link CELLS_PER_BLOB} of 48 bytes for each blob, one after the other; demanded from the fork Osaka on. */
  readonly cellProofs: readonly Uint8Array[];
}
