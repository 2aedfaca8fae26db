import type { BlobProofs } from '../../../config/sections/chain-config.js';
import { type Hex, parseHex } from '../../../kernel/hex.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { rlpBytes, rlpInteger, rlpList } from '../../../kernel/rlp.js';
import { CELLS_PER_BLOB } from '../domain/blob-sidecar.js';
import type { BroadcastOutcome } from '../domain/broadcast-outcome.js';
import type { SignedBytes } from '../domain/chain-connector.js';
import { combineOutcomes } from '../domain/combine-outcomes.js';

type Send = (transactions: readonly SignedBytes[]) => Promise<BroadcastOutcome[]>;

/**
 * With these a node refuses a form that it does not read, or that its fork does not allow. Some do so in the words of their decoder, which
 * nobody knows (hardhat 2: "unexpected string"). The other form is of the same signed bytes, so it may always be sent, too.
 */
const FORM_ERRORS: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'blob_error',
  'invalid_transaction',
  'unknown',
]);

/**
 * Sends blobs in the form that the fork of a chain demands. Nodes do not tell their fork, so when no endpoint takes it the other form
 * is sent, too, and kept when it is accepted: a fork costs one refusal.
 */
export class BlobSends {
  private form: BlobForm;

  constructor(private readonly rule: BlobProofs) {
    this.form = rule === 'auto' ? 'cell' : rule;
  }

  async execute(transactions: readonly SignedBytes[], send: Send): Promise<BroadcastOutcome[]> {
    const outcomes = await send(transactions.map((item) => ({ ...item, raw: inForm(item, this.form) })));
    const refused = transactions.filter((item, i) => item.sidecar !== undefined && isAboutForm(outcomes[i]));
    if (this.rule !== 'auto' || refused.length === 0) return outcomes;
    const other = this.form === 'cell' ? 'blob' : 'cell';
    const again = await send(refused.map((item) => ({ ...item, raw: inForm(item, other) })));
    if (again.some(({ kind }) => kind === 'accepted')) this.form = other;
    const better = new Map(refused.map((item, i) => [item, again[i]]));
    return transactions.flatMap((item, i): BroadcastOutcome[] => {
      const [first, retried] = [outcomes[i], better.get(item)];
      // When both forms are refused, the refusal of the usual form says why. When the other one was not sent, this one was all the same.
      return first ? [retried ? combineOutcomes([first, retried]) : first] : [];
    });
  }
}

function isAboutForm(outcome: BroadcastOutcome | undefined): boolean {
  return outcome !== undefined && 'errorClass' in outcome && FORM_ERRORS.has(outcome.errorClass);
}

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
