import type { AttemptKind, AttemptStatus } from '../../domain/attempt.js';
import type { TxState, TxSubState } from '../../domain/tx-state-machine.js';

/** What the answer to a create says. */
export interface AcceptedTxView {
  readonly txId: string;
  readonly chainId: number;
  readonly signer: string;
  readonly requestId: string;
  readonly state: TxState;
  readonly nonce: number | string | null;
  readonly txHash: string | null;
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/** A managed tx as the API shows it. Wei and gas are decimal strings; times ISO 8601. */
export interface TxView {
  readonly txId: string;
  readonly chainId: number;
  readonly signer: string;
  readonly requestId: string;
  readonly state: TxState;
  readonly subState: TxSubState | null;
  /** What the last try was answered with; null after one that went well. */
  readonly lastError: string | null;
  readonly nonce: number | string | null;
  readonly txHash: string | null;
  readonly payload: {
    readonly to: string | null;
    readonly value: string;
    readonly data: string;
    readonly gasLimit: string | null;
  };
  readonly speed: string;
  readonly priority: number;
  /** The request's own; null when the chain's number counts. */
  readonly confirmations: number | null;
  readonly expiresAt: string | null;
  readonly metadata: Record<string, unknown> | null;
  /** Gas of the attempts: the client's, or estimated. */
  readonly gasLimit: string | null;
  readonly receipt: ReceiptView | null;
  readonly failureReason: string | null;
  readonly lastSubmitAt: string | null;
  readonly nextResubmitAt: string | null;
  readonly confirmedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ReceiptView {
  readonly txHash: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly transactionIndex: number;
  readonly status: 'success' | 'reverted';
  readonly gasUsed: string;
  readonly effectiveGasPrice: string;
  readonly contractAddress: string | null;
}

export interface AttemptView {
  readonly txHash: string;
  readonly nonce: number | string;
  readonly kind: AttemptKind;
  readonly status: AttemptStatus;
  readonly gasLimit: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly errorClass: string | null;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly lastSentAt: string | null;
}

export interface TxFilter {
  readonly chainId?: number;
  readonly signer?: string;
  readonly state?: TxState;
  /** Only txs older than this id. */
  readonly before?: string;
  /** Txs at most. */
  readonly limit: number;
}

/** Some txs, newest first. */
export interface TxList {
  readonly items: readonly TxView[];
  /** What to go on `before`; null when there is nothing older. */
  readonly nextBefore: string | null;
}

/** Reads for the API. None needs a lease. */
export abstract class TxQueries {
  abstract find(txId: string): Promise<TxView | null>;
  abstract findByRequest(chainId: number, signer: string, requestId: string): Promise<TxView | null>;
  /** Newest first; fewer than `limit` when they would be long together, and none only when there are none. */
  abstract list(filter: TxFilter): Promise<TxList>;
  /** Oldest first. */
  abstract attempts(txId: string): Promise<AttemptView[]>;
  /** State of each known id. */
  abstract states(txIds: readonly string[]): Promise<ReadonlyMap<string, TxState>>;
}
