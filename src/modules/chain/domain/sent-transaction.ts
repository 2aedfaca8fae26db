import type { Address, Hash, Hex } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { AccessList } from './gas-estimate.js';

/**
 * A transaction that a node has in a block or in its pool. The signature was checked: whoever said it, the account's key signed
 * these bytes.
 */
export interface SentTransaction {
  readonly account: Address;
  readonly nonce: Nonce;
  readonly hash: Hash;
  readonly raw: Hex;
  /** null creates a contract. */
  readonly to: Address | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly accessList: AccessList;
  readonly gasLimit: bigint;
  /** Wei per gas; of a legacy transaction both are its price. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What the endpoints that answered say together of how many transactions an account sent. */
export interface AccountCounts {
  /** The lowest count: nonces below it are in blocks, whoever is asked. */
  readonly latest: Nonce;
  /** The highest count, of blocks or of a pool: an endpoint that lags, or never saw a transaction, proves nothing. */
  readonly pending: Nonce;
}

export interface PooledQuestion {
  readonly account: Address;
  /** The first nonce of interest. */
  readonly from: Nonce;
}

/** What the pools of all endpoints have of an account. */
export interface PooledTransactions {
  readonly transactions: readonly SentTransaction[];
  /** Whether an endpoint showed its whole pool, transactions behind a gap included. */
  readonly shown: boolean;
  /** The highest pending count of an endpoint that does not show its pool: transactions below it may be hidden there. */
  readonly hiddenBelow: Nonce;
}

export interface MinedQuestion extends PooledQuestion {
  /** Seconds since 1970. What was mined in a block before is of no interest. */
  readonly since: number;
}

export interface MinedTransactions {
  readonly transactions: readonly SentTransaction[];
  /** Whether all blocks from `since` on were looked at. */
  readonly complete: boolean;
}
