import type { Viewer } from '../../../../kernel/caller.js';
import type { SignerId } from '../../../../kernel/signer-id.js';
import type { AttemptKind, AttemptStatus, TxType } from '../../domain/attempt.js';
import type { TxKind } from '../../domain/managed-tx.js';
import type { PermitKind } from '../../domain/permit.js';
import type { TxState, TxSubState } from '../../domain/tx-state-machine.js';

/** A managed tx as the API shows it. Wei and gas are decimal strings; times ISO 8601. */
export interface TxView {
  readonly txId: string;
  /** `fill`: made by Lockstep, to fill a nonce gap. */
  readonly kind: TxKind;
  readonly chainId: number;
  readonly signer: string;
  readonly requestId: string;
  readonly state: TxState;
  readonly subState: TxSubState | null;
  /** The error of the last try; null if it succeeded. */
  readonly lastError: string | null;
  readonly nonce: number | string | null;
  readonly txHash: string | null;
  /** The tx that it competes, or competed, with for a nonce; null unless it is a replacement. */
  readonly replaces: string | null;
  /** The replacement that competes for its nonce, or took it. */
  readonly replacedBy: string | null;
  readonly payload: {
    readonly to: string | null;
    readonly value: string;
    readonly data: string;
    readonly gasLimit: string | null;
    readonly accessList: readonly { readonly address: string; readonly storageKeys: readonly string[] }[];
    /** Versioned hashes. */
    readonly blobs: readonly string[];
    readonly authorizationList: readonly AuthorizationView[];
    readonly permits: readonly PermitView[];
  };
  /** The address of the contract that it creates, as soon as its nonce is known; null otherwise. */
  readonly contractAddress: string | null;
  readonly speed: string;
  readonly priority: number;
  /** The number in the request; null when only the rule of the chain applies. */
  readonly confirmations: number | null;
  readonly expiresAt: string | null;
  readonly metadata: Record<string, unknown> | null;
  /** Id of the webhook endpoint that its request names. */
  readonly callback: string | null;
  /** Gas of the attempts: as requested, or estimated. */
  readonly gasLimit: string | null;
  readonly receipt: ReceiptView | null;
  readonly failureReason: string | null;
  readonly lastSubmitAt: string | null;
  readonly nextResubmitAt: string | null;
  readonly confirmedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** As requested: with `signer`, Lockstep signs it; else the client has signed. */
export interface AuthorizationView {
  readonly chainId: string;
  readonly address: string;
  readonly signer?: string;
  readonly nonce?: string;
  readonly yParity?: number;
  readonly r?: string;
  readonly s?: string;
}

/** Without its signature, which is in the attempts that have it. */
export interface PermitView {
  readonly kind: PermitKind;
  readonly contract: string;
  readonly owner: string;
  readonly ttl: number;
  /** Of the owner at the contract. Null until it is signed. */
  readonly permitNonce: string | null;
  /** ISO 8601. */
  readonly deadline: string | null;
}

/** What the node does not tell is null. */
export interface ReceiptView {
  readonly txHash: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly transactionIndex: number | null;
  readonly status: 'success' | 'reverted';
  readonly gasUsed: string | null;
  readonly effectiveGasPrice: string | null;
  readonly contractAddress: string | null;
}

export interface AttemptView {
  readonly txHash: string;
  readonly nonce: number | string;
  readonly kind: AttemptKind;
  readonly status: AttemptStatus;
  /** EIP-2718. */
  readonly type: TxType;
  readonly gasLimit: string;
  /** The price of the types 0 and 1, which have only one; null for the others. */
  readonly gasPrice: string | null;
  /** Null for the types 0 and 1. */
  readonly maxFeePerGas: string | null;
  readonly maxPriorityFeePerGas: string | null;
  /** Only of type 3. */
  readonly maxFeePerBlobGas: string | null;
  readonly errorClass: string | null;
  readonly lastError: string | null;
  readonly createdAt: string;
  readonly lastSentAt: string | null;
}

export interface TxFilter {
  readonly kind: TxKind;
  readonly chainId?: number;
  readonly signer?: string;
  readonly state?: TxState;
  /** Only txs older than this id. */
  readonly before?: string;
  /** Maximum number of txs. */
  readonly limit: number;
}

/** Some txs, newest first. */
export interface TxList {
  readonly items: readonly TxView[];
  /** Pass it as `before` to get the next page; null when there are no older txs. */
  readonly nextBefore: string | null;
}

/** Reads for the API. They need no lease. What the viewer may not see does not exist. */
export abstract class TxQueries {
  abstract find(txId: string, viewer: Viewer): Promise<TxView | null>;
  abstract findByRequest(signer: SignerId, requestId: string, viewer: Viewer): Promise<TxView | null>;
  /** Newest first. Returns fewer than `limit` when they would be too long together, and none only when there are none. */
  abstract list(filter: TxFilter, viewer: Viewer): Promise<TxList>;
  /** Oldest first. */
  abstract attempts(txId: string): Promise<AttemptView[]>;
  /** Which of these txs belong to an account. */
  abstract ofAccount(txIds: readonly string[], account: string): Promise<ReadonlySet<string>>;
  /** Wei that the txs in flight of the signer may take from its balance. */
  abstract committedWei(signer: SignerId): Promise<bigint>;
  /** The states of these txs that are not those which the caller knows; null for none. */
  abstract changedStates(known: ReadonlyMap<string, TxState | null>): Promise<ReadonlyMap<string, TxState>>;
}
