import { groupBy } from '../../../src/kernel/group-by.js';
import type { Address } from '../../../src/kernel/hex.js';
import type { Nonce } from '../../../src/kernel/signer-id.js';
import { ModelPool, type ModelTx } from '../../support/model-pool.js';
import type { Seen } from '../seen.js';
import { tipOf } from './market.js';
import { type PoolRoom, ROOMY } from './pool-room.js';

/** The chain as the node of a pool sees it. */
export interface PoolHead {
  readonly countOf: (account: Address) => Nonce;
  /** Wei per gas. */
  readonly baseFee: bigint;
}

/** Transactions of one account, in the order of their nonces. */
interface Lane {
  /** Without a gap from the account's count on. */
  readonly pending: ModelTx[];
  readonly queued: ModelTx[];
}

/** A pool with the limits of geth's, which drops what it had accepted when there is no room. */
export class SimPool extends ModelPool {
  room: PoolRoom = ROOMY;

  constructor(private readonly seen: Seen) {
    super();
  }

  /** @returns 'taken', or why not, in the words of geth */
  take(tx: ModelTx, head: PoolHead): string {
    const refusal = this.refusal(tx, head);
    if (refusal !== null) {
      this.seen.note(`a pool refuses: ${refusal.split(':')[0]}`);
      return refusal;
    }
    const answer = this.offer(tx, head.countOf(tx.from));
    if (answer === 'taken') this.trim(head);
    return answer;
  }

  /** What is too much is dropped, without a word to anybody. */
  trim({ countOf }: PoolHead): void {
    const { accountQueue, globalQueue, globalSlots, accountSlots } = this.room;
    if (this.all().length <= Math.min(accountQueue, globalQueue, globalSlots)) return;
    const lanes = this.lanes(countOf);
    const queues = lanes.map(({ queued }) => queued);
    const pendings = lanes.map(({ pending }) => pending);
    for (const queued of queues) this.shorten(queued, accountQueue);
    while (total(queues) > globalQueue) this.shorten(longest(queues), longest(queues).length - 1);
    while (total(pendings) > globalSlots && longest(pendings).length > accountSlots)
      this.shorten(longest(pendings), longest(pendings).length - 1);
  }

  private refusal(tx: ModelTx, head: PoolHead): string | null {
    const { leastTip, perAccount, globalSlots, globalQueue } = this.room;
    if (this.has(tx.hash)) return null;
    if (tx.maxPriorityFeePerGas < leastTip)
      return `transaction gas price below minimum: gas tip cap ${tx.maxPriorityFeePerGas}, minimum needed ${leastTip}`;
    const all = this.all();
    const own = all.filter(({ from }) => from === tx.from);
    // As reth: the one that can be mined next is always let through.
    if (own.length >= perAccount && tx.nonce > head.countOf(tx.from) && !own.some(({ nonce }) => nonce === tx.nonce))
      return `account limit exceeded: pooled ${own.length} txs`;
    return all.length < globalSlots + globalQueue ? null : this.refusalWhenFull(tx, head);
  }

  /** Who pays more takes the place of the cheapest. */
  private refusalWhenFull(tx: ModelTx, { countOf, baseFee }: PoolHead): string | null {
    const price = (each: ModelTx): bigint => tipOf(each, baseFee);
    const cheapest = this.all().reduce((least, each) => (price(each) < price(least) ? each : least));
    if (price(tx) <= price(cheapest)) return 'transaction underpriced';
    const isGapped = tx.nonce > this.pendingNonce(tx.from, countOf(tx.from));
    if (isGapped && cheapest.nonce < this.pendingNonce(cheapest.from, countOf(cheapest.from)))
      return 'future transaction tries to replace pending';
    this.remove(cheapest.hash);
    this.seen.note('a full pool drops the cheapest transaction');
    return null;
  }

  private lanes(countOf: PoolHead['countOf']): Lane[] {
    return [...groupBy(this.all(), ({ from }) => from)].map(([account, txs]) => {
      const next = this.pendingNonce(account, countOf(account));
      const sorted = [...txs].sort((a, b) => Number(a.nonce - b.nonce));
      return {
        pending: sorted.filter(({ nonce }) => nonce < next),
        queued: sorted.filter(({ nonce }) => nonce >= next),
      };
    });
  }

  /** The highest nonces go. */
  private shorten(txs: ModelTx[], most: number): void {
    while (txs.length > most) {
      const dropped = txs.pop();
      if (dropped) this.remove(dropped.hash);
      this.seen.note('a full pool drops the highest nonces');
    }
  }
}

function total(lanes: readonly ModelTx[][]): number {
  return lanes.reduce((sum, lane) => sum + lane.length, 0);
}

function longest(lanes: readonly ModelTx[][]): ModelTx[] {
  return lanes.reduce((most, lane) => (lane.length > most.length ? lane : most), []);
}
