import { createHash } from 'node:crypto';
import type { BlobSidecar } from '../../src/modules/chain/index.js';

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Sidecars by tx, to compare: Jest takes minutes to say how two blobs differ. */
export function sidecarDigests(sidecars: ReadonlyMap<string, BlobSidecar>): Record<string, Record<string, string[]>> {
  return Object.fromEntries(
    [...sidecars].map(([txId, sidecar]) => [
      txId,
      Object.fromEntries(
        Object.entries(sidecar).map(([name, items]: [string, readonly Uint8Array[]]) => [name, items.map(digest)]),
      ),
    ]),
  );
}
