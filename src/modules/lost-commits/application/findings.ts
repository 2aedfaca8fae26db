import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import type { SignerOutlook } from '../domain/lost-commits.repository.js';

/** The sent transactions of a signer that were found, and which of them the database does not know. */
export class Findings {
  /** Transactions with nonces for which the database has no bytes. */
  readonly unknown: readonly SentTransaction[];

  /**
   * @param latest the chain's next nonce
   * @param sent transactions that were found on the chain and in pools
   * @param hiddenBelow pools that hide their content may have transactions below this nonce
   * @param shown whether an endpoint returned its whole pool
   * @param unread whether blocks that may contain our transactions could not be read
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

/** The lowest nonce that a transaction unknown to the database may use. */
export function lowestUnknown({ cursor, open }: SignerOutlook): Nonce {
  return open.reduce((lowest, { nonce }) => minOf(lowest, nonce), cursor);
}

/** @param pending the chain's `pending` count: every nonce below it is used or in a pool */
export function mayLack(outlook: SignerOutlook, pending: Nonce): boolean {
  return outlook.suspect || lowestUnknown(outlook) < pending;
}

function isUnknown({ cursor, open }: SignerOutlook, nonce: Nonce): boolean {
  return nonce >= cursor || open.some((slot) => slot.nonce === nonce);
}
