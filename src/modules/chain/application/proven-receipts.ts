import type { Hash } from '../../../kernel/hex.js';
import type { Receipt, ReceiptsByHash } from '../domain/block.js';

/** 7 MB: the receipts of twenty seconds at 1,000 tx/s. A receipt that was dropped is read again, which costs one RPC call. */
const MAX_RECEIPTS = 20_000;

const NONE: ReceiptsByHash = new Map<Hash, Receipt>();

/** The receipts that the receiptsRoot of their block has proven, by block; only in memory, only of the newest blocks. */
export class ProvenReceipts {
  /** In the order in which they were added. */
  private readonly blocks = new Map<Hash, ReceiptsByHash>();
  private count = 0;

  constructor(private readonly maxReceipts = MAX_RECEIPTS) {}

  add(block: Hash, receipts: ReceiptsByHash): void {
    this.drop(block);
    this.blocks.set(block, receipts);
    this.count += receipts.size;
    for (const oldest of this.blocks.keys()) {
      if (this.count <= this.maxReceipts) return;
      this.drop(oldest);
    }
  }

  /** Empty when the block is not known. A proof does not expire, so the receipts may have been added long ago. */
  in(block: Hash): ReceiptsByHash {
    return this.blocks.get(block) ?? NONE;
  }

  private drop(block: Hash): void {
    this.count -= this.in(block).size;
    this.blocks.delete(block);
  }
}
