import type { ManagedTx } from '../../ledger/index.js';

/** `resubmit.bumpAfterBlocks` and `resubmit.bumpDepth`. */
export interface BumpRule {
  readonly bumpAfterBlocks: number;
  readonly bumpDepth: number;
}

/** One of the lowest unmined txs of a signer, and its newest attempt. */
export interface LowTx {
  readonly tx: ManagedTx;
  /** Whether it is in a pool, and only its price can be the reason for its wait. */
  readonly isBumpable: boolean;
  /** When the newest attempt was priced; null when that is not known, which counts as long ago. */
  readonly pricedAtBlock: number | null;
  /** Whether a node refused the newest attempt as too cheap. It does not have to wait for the price to prove too low. */
  readonly wasTooCheap: boolean;
}

/** What one look at a signer found. */
export interface Look {
  /** The txs that are due for a higher price, by nonce. */
  readonly due: readonly ManagedTx[];
  /** The block of the next look, if nothing is due now; null when nothing is in a pool. */
  readonly nextIfQuiet: number | null;
}

/**
 * Finds the txs of one signer that are stuck in a pool because of their price: among its lowest unmined nonces, those whose newest attempt
 * was priced `bumpAfterBlocks` blocks ago or earlier. Everything behind them, behind a tx that another price cannot help, or behind a nonce
 * without a tx, is blocked and not too cheap.
 * @param lowest its lowest unmined txs by nonce: one more than `bumpDepth`, which becomes due when the others are mined
 */
export function stuckTxs(lowest: readonly LowTx[], head: number, rule: BumpRule): Look {
  const firstBlocking = lowest.findIndex((low, index) => !low.isBumpable || isBehindGap(low, lowest[index - 1]));
  const open = firstBlocking < 0 ? lowest : lowest.slice(0, firstBlocking);
  const due = open.slice(0, rule.bumpDepth).filter((low) => dueAt(low, head, rule) <= head);
  const nextLooks = open.map((low) => Math.max(head + 1, dueAt(low, head, rule)));
  if (firstBlocking >= 0) nextLooks.push(head + rule.bumpAfterBlocks);
  return { due: due.map(({ tx }) => tx), nextIfQuiet: nextLooks.length === 0 ? null : Math.min(...nextLooks) };
}

/**
 * The block of the next look. After a bump it is the next block, because the txs behind may be stuck as well. When a price was due and did
 * not change (the caps, or the market), it is not asked again at each block.
 */
export function nextLook({ due, nextIfQuiet }: Look, anyBumped: boolean, head: number, rule: BumpRule): number | null {
  if (due.length === 0) return nextIfQuiet;
  return anyBumped ? head + 1 : head + rule.bumpAfterBlocks;
}

/** A quote may be of a later block than the followed head, but not by so many: then an endpoint told a block that the chain does not have. */
const FAR_BLOCKS = 1_000;

function isBehindGap({ tx }: LowTx, below: LowTx | undefined): boolean {
  return below !== undefined && tx.nonce > below.tx.nonce + 1n;
}

function dueAt({ pricedAtBlock, wasTooCheap }: LowTx, head: number, { bumpAfterBlocks }: BumpRule): number {
  if (pricedAtBlock === null || pricedAtBlock > head + FAR_BLOCKS) return 0;
  return pricedAtBlock + (wasTooCheap ? 1 : bumpAfterBlocks);
}
