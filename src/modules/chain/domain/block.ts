import type { Address, Hash } from '../../../kernel/hex.js';

export interface BlockHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since the epoch, as the chain says. */
  readonly timestamp: number;
  /** Wei per gas (EIP-1559); null on chains without a base fee. */
  readonly baseFeePerGas: bigint | null;
}

export interface Block extends BlockHeader {
  readonly transactionHashes: readonly Hash[];
}

export interface Receipt {
  readonly txHash: Hash;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly transactionIndex: number;
  readonly status: 'success' | 'reverted';
  readonly gasUsed: bigint;
  /** Wei per gas that was really paid. */
  readonly effectiveGasPrice: bigint;
  /** Set when the transaction created a contract. */
  readonly contractAddress: Address | null;
}

/** An RPC that fails to answer has not said "no receipt": the two must never be mixed up. */
export type ReceiptLookup =
  | { readonly kind: 'found'; readonly receipt: Receipt }
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable'; readonly message: string };
