import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import type { SignerOutlook } from '../../ledger/index.js';

/** The sent transactions of a signer that were found, and which of them the database does not know. */
export class Findings {
  /** Transactions with nonces that a tx of ours has, or may get. */
  readonly unknown: readonly SentTransaction[];

  /**
   * @param latest the chain's next nonce
   * @param sent transactions that were found on the chain and in pools, without those whose bytes the database has
   * @param hiddenBelow pools that hide their content may have transactions below this nonce
   * @param shown whether an endpoint returned its whole pool
   * @param unread whether blocks that may contain our transactions could not be read
   * @param seen the txs whose known bytes were found, and the nonces of these; null when nobody looked for them
   */
  constructor(
    readonly outlook: SignerOutlook,
    readonly latest: Nonce,
    sent: readonly SentTransaction[],
    readonly hiddenBelow: Nonce,
    readonly shown: boolean,
    readonly unread: boolean,
    private readonly seen: readonly { readonly txId: string | null; readonly nonce: Nonce }[] | null = null,
  ) {
    this.unknown = sent.filter(({ nonce }) => isUnknown(outlook, nonce));
  }

  /** Whether the search would have found transactions of a tx with this nonce, and found none that the database knows. */
  lacks(txId: string, nonce: Nonce): boolean {
    if (this.seen === null || nonce < searchedFrom(this.outlook)) return false;
    return !this.seen.some((bytes) => bytes.txId === txId && bytes.nonce === nonce);
  }

  /** Whether a pool may have an unknown transaction below this nonce that no endpoint returned. */
  lacksBelow(end: Nonce): boolean {
    const found = new Set(this.unknown.map(({ nonce }) => nonce));
    const { cursor, open } = this.outlook;
    const start = maxOf(cursor, this.latest);
    const foundAbove = [...found].filter((nonce) => nonce >= start && nonce < end).length;
    if (end > start && end - start > BigInt(foundAbove)) return true;
    return open.some(({ nonce }) => nonce >= this.latest && nonce < end && !found.has(nonce));
  }
}

/** The lowest nonce for which a database that may have lost commits may lack bytes. */
export function searchedFrom(outlook: SignerOutlook): Nonce {
  const { inFlightFrom } = outlook;
  const lowest = lowestUnknown(outlook);
  return inFlightFrom !== null ? minOf(lowest, inFlightFrom) : lowest;
}

/** The lowest nonce for which the database has no bytes. */
function lowestUnknown({ cursor, open }: SignerOutlook): Nonce {
  return open.reduce((lowest, { nonce }) => minOf(lowest, nonce), cursor);
}

/** @param pending the chain's `pending` count: every nonce below it is used or in a pool */
export function mayLack(outlook: SignerOutlook, pending: Nonce): boolean {
  return outlook.suspect || lowestUnknown(outlook) < pending;
}

function isUnknown({ cursor, open, inFlightFrom }: SignerOutlook, nonce: Nonce): boolean {
  return (
    nonce >= cursor || (inFlightFrom !== null && nonce >= inFlightFrom) || open.some((slot) => slot.nonce === nonce)
  );
}
