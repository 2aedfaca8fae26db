import { type Address, type Hash, parseHash } from '../../../src/kernel/hex.js';
import type { ModelBlock } from '../../support/model-chain.js';
import type { SimChain } from '../sim-chain.js';

/** What one endpoint says that is not so, or not so any more. */
export interface View {
  /** Blocks that it does not have yet. */
  readonly behind: number;
  /** Blocks on top of the chain that nobody else has. */
  readonly ahead: number;
  /** It is on a branch of its own that left the chain above this block; `repeats`: with the transactions of the chain in it, a block later. */
  readonly branch: { readonly from: number; readonly repeats: boolean } | null;
  /** Receipts, and transactions by hash, that it does not have: all, or of every second hash. */
  readonly denies: 'none' | 'some' | 'all';
  /** Receipts say that what succeeded was reverted, and the other way round. */
  readonly flips: boolean;
  /** It has receipts, in its newest block, of what is in no block. */
  readonly invents: boolean;
  /** Added to every transaction count. */
  readonly counts: bigint;
  /** Times the fees that are right. */
  readonly fees: bigint;
  /** Every estimate reverts. */
  readonly reverts: boolean;
  /** Keeps neither state nor receipts of blocks below so many. */
  readonly kept: number;
  /** Blocks by which each of these is behind its own head: transactions and receipts by hash... */
  readonly index: number;
  /** ...transaction counts and balances... */
  readonly state: number;
  /** ...and the receipts of whole blocks. */
  readonly receipts: number;
  /** It serves another chain. */
  readonly otherChain: boolean;
}

export type LieKind =
  | 'far ahead'
  | 'ahead'
  | 'ahead without us'
  | 'nonces without us'
  | 'no receipts'
  | 'counts'
  | 'another branch'
  | 'other receipts'
  | 'receipts of its own'
  | 'fees'
  | 'reverts';

export const TRUTH: View = {
  behind: 0,
  ahead: 0,
  branch: null,
  denies: 'none',
  flips: false,
  invents: false,
  counts: 0n,
  fees: 1n,
  reverts: false,
  kept: Infinity,
  index: 0,
  state: 0,
  receipts: 0,
  otherChain: false,
};

/** The chain as one endpoint sees it. Blocks that only it has are made up when they are asked for, and always the same. */
export class ViewedChain {
  /** @param label of the blocks that only this endpoint has; a digit */
  constructor(
    private readonly chain: SimChain,
    private readonly view: View,
    private readonly label: number,
  ) {}

  get tip(): number {
    const { behind, ahead, branch } = this.view;
    if (branch) return Math.max(branch.from + 1, this.chain.height) + ahead;
    return Math.max(0, this.chain.height - behind) + ahead;
  }

  blockAt(number: number): ModelBlock | null {
    if (number > this.tip) return null;
    return number <= this.lastShared ? this.chain.blockAt(number) : this.madeUp(number);
  }

  blockOf(hash: string): ModelBlock | null {
    for (let number = this.highestWithTxs; number >= 0; number -= 1) {
      const block = this.blockAt(number);
      if (block?.hash === hash) return block;
    }
    return null;
  }

  /** The block that has the transaction. */
  placeOf(hash: string): ModelBlock | null {
    for (let number = this.highestWithTxs; number > 0; number -= 1) {
      const block = this.blockAt(number);
      if (block?.txs.some((tx) => tx.hash === hash)) return block;
    }
    return null;
  }

  /** As of the end of a block. */
  countAt(account: Address, number: number): bigint {
    let count = 0n;
    for (let at = Math.min(number, this.highestWithTxs); at > 0; at -= 1)
      for (const { from } of this.blockAt(at)?.txs ?? []) if (from === account) count += 1n;
    return count;
  }

  hasMined(data: string): boolean {
    for (let number = this.highestWithTxs; number > 0; number -= 1)
      if (this.blockAt(number)?.txs.some((tx) => tx.data === data)) return true;
    return false;
  }

  /** The highest block that is on the chain, too. */
  private get lastShared(): number {
    const { branch, behind } = this.view;
    return branch ? Math.min(branch.from, this.chain.height) : Math.max(0, this.chain.height - behind);
  }

  /** An endpoint may claim millions of empty blocks. */
  private get highestWithTxs(): number {
    return Math.min(this.tip, this.chain.height + 16);
  }

  private madeUp(number: number): ModelBlock {
    const parent = number - 1;
    const isFirst = parent <= this.lastShared;
    const txs = this.view.branch?.repeats === true && !isFirst ? (this.chain.blockAt(parent)?.txs ?? []) : [];
    const parentHash = isFirst ? this.chain.blockAt(parent)?.hash : this.hashOf(parent);
    return {
      number,
      hash: this.hashOf(number),
      parentHash: parentHash ?? this.hashOf(parent),
      timestamp: Math.floor(this.chain.seconds),
      baseFeePerGas: this.chain.baseFee,
      receiptsRoot: null,
      transactionHashes: txs.map(({ hash }) => hash),
      listsAll: true,
      txs,
    };
  }

  private hashOf(number: number): Hash {
    return parseHash(
      `0xb${this.label}${this.lastShared.toString(16).padStart(22, '0')}${number.toString(16).padStart(40, '0')}`,
    );
  }
}
