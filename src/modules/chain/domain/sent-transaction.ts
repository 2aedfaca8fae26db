import type { Address, Hash, Hex } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { AccessList } from './gas-estimate.js';

/**
 * A transaction that a node has in a block or in its pool. Its signature was checked, so the key of the account signed these bytes even
 * if the node is not trusted.
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
  /** Versioned hashes; only of type 3. */
  readonly blobHashes?: readonly Hash[];
  /** Only of type 4. */
  readonly authorizationList?: readonly SentAuthorization[];
  /** EIP-2718. */
  readonly type: 0 | 1 | 2 | 3 | 4;
  readonly gasLimit: bigint;
  /** Wei per gas; of a legacy transaction both are its price. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Only of type 3. */
  readonly maxFeePerBlobGas?: bigint;
}

/** EIP-7702. */
export interface SentAuthorization {
  readonly chainId: bigint;
  readonly address: Address;
  readonly nonce: Nonce;
}

/** How many transactions an account has sent, from all endpoints that answered. */
export interface AccountCounts {
  /** The lowest count: every endpoint has the nonces below it in blocks. */
  readonly latest: Nonce;
  /** The highest count, of blocks or of a pool: a lower count of an endpoint that lags, or never saw a transaction, proves nothing. */
  readonly pending: Nonce;
}

export interface PooledQuestion {
  readonly account: Address;
  /** The first nonce of interest. */
  readonly from: Nonce;
}

/** The transactions of an account in the pools of all endpoints. */
export interface PooledTransactions {
  readonly transactions: readonly SentTransaction[];
  /** Whether an endpoint showed its whole pool, including transactions above a nonce gap, and none was silent about its own. */
  readonly shown: boolean;
  /** The highest pending count of an endpoint that does not show its pool: transactions below it may be hidden there. */
  readonly hiddenBelow: Nonce;
}

export interface MinedQuestion extends PooledQuestion {
  /** Seconds since 1970. Earlier blocks are not searched. */
  readonly since: number;
}

export interface MinedTransactions {
  readonly transactions: readonly SentTransaction[];
  /** Whether all blocks from `since` on were searched. */
  readonly complete: boolean;
}
