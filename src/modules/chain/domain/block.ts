import type { Address, Hash } from '../../../kernel/hex.js';

export interface BlockHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since the epoch, as the chain says. */
  readonly timestamp: number;
  /** Wei per gas (EIP-1559); null on chains without a base fee. */
  readonly baseFeePerGas: bigint | null;
  /** Root of the trie of its receipts; null when the node does not say, and for a block that was not read just now. */
  readonly receiptsRoot: Hash | null;
}

/** Names a block for certain. */
export type BlockRef = Pick<BlockHeader, 'number' | 'hash'>;

export interface Block extends BlockHeader {
  readonly transactionHashes: readonly Hash[];
}

/** A block by its hash, and what it says of its receipts: with neither root nor transactions, nothing is proven of them. */
export type BlockToProve = Pick<Block, 'hash' | 'receiptsRoot' | 'transactionHashes'>;

/** Receipts of one block from which one call for all of the block is cheaper than one for each. */
export const WHOLE_BLOCK_FROM = 2;

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

/** All receipts of one block, in order. */
export interface BlockReceipts {
  readonly receipts: readonly Receipt[];
  /**
   * They are those that the block was made with: transaction by transaction, status and logs hash to its `receiptsRoot`. False
   * says nothing: rollups hash other fields, and some nodes leave fields out. Price and contract address are not in the hash.
   */
  readonly proven: boolean;
}

/** An RPC that fails to answer has not said "no receipt": the two must never be mixed up. */
export type ReceiptLookup =
  | { readonly kind: 'found'; readonly receipt: Receipt }
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable'; readonly message: string };
