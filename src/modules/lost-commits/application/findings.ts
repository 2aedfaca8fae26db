import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import type { SignerOutlook } from '../domain/lost-commits.repository.js';

/** What is out of a signer, and what of it the database does not know. */
export class Findings {
  /** With nonces for which the database knows no bytes. */
  readonly unknown: readonly SentTransaction[];

  /**
   * @param latest the chain's next nonce
   * @param sent whatever was found on the chain and in pools
   * @param hiddenBelow pools that are not shown may have anything below it
   * @param shown whether a pool was shown whole
   * @param unread whether blocks that may have one of ours could not be read
   */
  constructor(
    readonly outlook: SignerOutlook,
    readonly latest: Nonce,
    sent: readonly SentTransaction[],
    readonly hiddenBelow: Nonce,
    readonly shown: boolean,
    readonly unread: boolean,
  ) {
    this.unknown = sent.filter(({ nonce }) => isUnknown(outlook, nonce));
  }

  /** Whether something may be in a pool, below the nonce given, that nobody showed. */
  lacksBelow(end: Nonce): boolean {
    const found = new Set(this.unknown.map(({ nonce }) => nonce));
    const { cursor, open } = this.outlook;
    const start = maxOf(cursor, this.latest);
    const foundAbove = [...found].filter((nonce) => nonce >= start && nonce < end).length;
    if (end > start && end - start > BigInt(foundAbove)) return true;
    return open.some(({ nonce }) => nonce >= this.latest && nonce < end && !found.has(nonce));
  }
}

/** The lowest nonce that may be used by something the database does not know. */
export function lowestUnknown({ cursor, open }: SignerOutlook): Nonce {
  return open.reduce((lowest, { nonce }) => minOf(lowest, nonce), cursor);
}

/** @param pending the nonce below which all are used, or pooled */
export function mayLack(outlook: SignerOutlook, pending: Nonce): boolean {
  return outlook.suspect || lowestUnknown(outlook) < pending;
}

function isUnknown({ cursor, open }: SignerOutlook, nonce: Nonce): boolean {
  return nonce >= cursor || open.some((slot) => slot.nonce === nonce);
}
