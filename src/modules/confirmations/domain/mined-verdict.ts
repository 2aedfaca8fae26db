import type { Hash } from '../../../kernel/hex.js';
import type { Receipt } from '../../chain/index.js';

/**
 * The verdict on a MINED tx whose block is deep enough. `final`: the block is canonical, and the receipt, read again, has the same status.
 * `gone`: another block is canonical at its height. `changed`: the receipt has another status now. `open`: it cannot be decided now.
 */
export type MinedVerdict = 'final' | 'gone' | 'changed' | 'open';

/** The evidence for a verdict on a receipt. */
export interface ReceiptEvidence {
  /** Hash of the canonical block at the receipt's height; undefined when it is not known. */
  readonly canonical: Hash | undefined;
  /** The same receipt, verified or read again; undefined when it could not be read. */
  readonly fresh: Receipt | undefined;
  /** The chain answers that the transaction was not mined, or was mined in another block. */
  readonly denied: boolean;
}

export function minedVerdict(receipt: Receipt, { canonical, fresh, denied }: ReceiptEvidence): MinedVerdict {
  if (denied) return 'gone';
  if (canonical === undefined) return 'open';
  if (canonical !== receipt.blockHash) return 'gone';
  if (fresh === undefined) return 'open';
  return fresh.status === receipt.status ? 'final' : 'changed';
}
