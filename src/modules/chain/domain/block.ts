import type { Address, Hash } from '../../../kernel/hex.js';

export interface BlockHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since the epoch, from the block header; null when the node does not tell. */
  readonly timestamp: number | null;
  /** Wei per gas (EIP-1559); null on chains without a base fee. */
  readonly baseFeePerGas: bigint | null;
  /** Root of the receipts trie; null when the node leaves it out, and for a block that was loaded from the store. */
  readonly receiptsRoot: Hash | null;
}

/** Identifies one block; the number alone may mean another block after a reorg. */
export type BlockRef = Pick<BlockHeader, 'number' | 'hash'>;

export interface Block extends BlockHeader {
  readonly transactionHashes: readonly Hash[];
  /** False where the node left out the list, or a hash in it: what is not in it may be in the block all the same. */
  readonly listsAll: boolean;
}

/** A block by its hash, and what proves its receipts. Without root and transactions nothing is proven. */
export type BlockToProve = Pick<Block, 'hash' | 'receiptsRoot' | 'transactionHashes'>;

/** What only informs is null when the node does not tell it (docs/invariants.md, K1). */
export interface Receipt {
  readonly txHash: Hash;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly transactionIndex: number | null;
  readonly status: 'success' | 'reverted';
  readonly gasUsed: bigint | null;
  /** Wei per gas that was paid. */
  readonly effectiveGasPrice: bigint | null;
  /** Set when the transaction created a contract. */
  readonly contractAddress: Address | null;
}

export type ReceiptsByHash = ReadonlyMap<Hash, Receipt>;

/** Whether one call for all receipts of a block is cheaper than one call for each of so many receipts. */
export function isWholeBlockCheaper(receipts: number): boolean {
  return receipts >= 2;
}

/**
 * The execution among the receipts of one transaction, in the order of their block: a copy used no gas, or comes later. Null only for an empty
 * list.
 */
export function executionAmong(receipts: readonly Receipt[]): Receipt | null {
  return receipts.find(({ gasUsed }) => gasUsed !== 0n) ?? receipts[0] ?? null;
}

/** All receipts of one block, in order. */
export interface BlockReceipts {
  readonly receipts: readonly Receipt[];
  /**
   * The receipts hash to the `receiptsRoot` of the block header, so status and logs of each transaction are proven. False means only
   * "not proven": rollups hash other fields, and some nodes leave fields out. Price and contract address are not in the hash.
   */
  readonly proven: boolean;
}

/**
 * `unavailable` means that the RPC failed; it must never be read as `none`, which means "no receipt". `unclear`: the endpoints answer, and
 * what they say decides nothing; the message is for people.
 */
export type ReceiptLookup =
  | { readonly kind: 'found'; readonly receipt: Receipt }
  | { readonly kind: 'none' }
  | { readonly kind: 'unclear'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string };
