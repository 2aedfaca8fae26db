import type { Hash } from '../../../kernel/hex.js';
import type { Receipt } from '../../chain/index.js';

/** 7 MB, and twenty seconds of 1,000 tx/s. What is forgotten is read again, which costs a call to the node and no certainty. */
const KEPT = 20_000;

type ReceiptsByHash = ReadonlyMap<Hash, Receipt>;

/** Receipts of ours that their block's root has proven, by block; in memory only, and of the last blocks. */
export class ProvenReceipts {
  /** In the order they came. */
  private readonly blocks = new Map<Hash, ReceiptsByHash>();
  private count = 0;

  constructor(private readonly kept = KEPT) {}

  add(block: Hash, receipts: ReceiptsByHash): void {
    this.forget(block);
    this.blocks.set(block, receipts);
    this.count += receipts.size;
    for (const oldest of this.blocks.keys()) {
      if (this.count <= this.kept) return;
      this.forget(oldest);
    }
  }

  /** Those of the block that are known; a proof holds for ever, so they may come from long ago. */
  in(block: Hash): ReceiptsByHash {
    return this.blocks.get(block) ?? new Map();
  }

  private forget(block: Hash): void {
    this.count -= this.in(block).size;
    this.blocks.delete(block);
  }
}
