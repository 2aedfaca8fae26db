import { type Hex, parseHex } from '../../../kernel/hex.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import { CELLS_PER_BLOB } from '../domain/blob-sidecar.js';
import type { SignedBytes } from '../domain/chain-connector.js';

/** Which proofs travel with blobs: one for each blob (EIP-4844), or one for each cell (EIP-7594, from the fork Osaka on). */
export type BlobForm = 'blob' | 'cell';

const TYPE = Buffer.of(3);
const PROOF_BYTES = 48;
const WRAPPER_VERSION = rlpInteger(1n);

/** The bytes for the network. Without a sidecar they are the signed bytes. */
export function inForm({ raw, sidecar }: SignedBytes, form: BlobForm): Hex {
  if (sidecar === undefined) return raw;
  const body = Buffer.from(raw.slice(4), 'hex');
  const { blobs, commitments, blobProofs, cellProofs } = sidecar;
  const proofs = form === 'blob' ? blobProofs : cellProofs.flatMap(eachProof);
  const version = form === 'blob' ? [] : [WRAPPER_VERSION];
  const wrapped = rlpList([body, ...version, bytesList(blobs), bytesList(commitments), bytesList(proofs)]);
  return parseHex(`0x${Buffer.concat([TYPE, wrapped]).toString('hex')}`);
}

function eachProof(ofBlob: Uint8Array): Uint8Array[] {
  return Array.from({ length: CELLS_PER_BLOB }, (_, i) => ofBlob.subarray(i * PROOF_BYTES, (i + 1) * PROOF_BYTES));
}

function bytesList(items: readonly Uint8Array[]): Buffer {
  return rlpList(items.map((item) => rlpBytes(Buffer.from(item.buffer, item.byteOffset, item.byteLength))));
}
