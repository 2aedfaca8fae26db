import type { Address, Hash, Hex } from '../../src/kernel/hex.js';
import type { Nonce } from '../../src/kernel/signer-id.js';

/** A transaction as the model chain knows it. */
export interface ModelTx {
  readonly hash: Hash;
  readonly from: Address;
  readonly nonce: Nonce;
  readonly data: string;
  /** Wei per gas. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly raw: Hex;
}

/** What a pool says to a transaction that is offered. */
export type PoolAnswer = 'taken' | 'already known' | 'nonce too low' | 'replacement transaction underpriced';

/** A mempool by geth's rules: one transaction for an account and nonce, and who replaces it pays a tenth more. */
export class ModelPool {
  private readonly txs = new Map<Hash, ModelTx>();

  all(): ModelTx[] {
    return [...this.txs.values()];
  }

  has(hash: Hash): boolean {
    return this.txs.has(hash);
  }

  /** @param count the account's transactions that are mined */
  offer(tx: ModelTx, count: Nonce): PoolAnswer {
    if (this.txs.has(tx.hash)) return 'already known';
    if (tx.nonce < count) return 'nonce too low';
    const rival = this.at(tx.from, tx.nonce);
    if (rival && !outbids(tx, rival)) return 'replacement transaction underpriced';
    this.put(tx);
    return 'taken';
  }

  /** Whatever was there for its nonce is gone. */
  put(tx: ModelTx): void {
    const rival = this.at(tx.from, tx.nonce);
    if (rival) this.txs.delete(rival.hash);
    this.txs.set(tx.hash, tx);
  }

  remove(hash: Hash): void {
    this.txs.delete(hash);
  }

  clear(): void {
    this.txs.clear();
  }

  /** Forgets what is mined. */
  prune(countOf: (account: Address) => Nonce): void {
    for (const tx of this.all()) if (tx.nonce < countOf(tx.from)) this.txs.delete(tx.hash);
  }

  /** The nonce after the run of nonces that begins at the account's count. */
  pendingNonce(account: Address, count: Nonce): Nonce {
    const nonces = new Set(this.all().flatMap(({ from, nonce }) => (from === account ? [nonce] : [])));
    let nonce = count;
    while (nonces.has(nonce)) nonce += 1n;
    return nonce;
  }

  private at(from: Address, nonce: Nonce): ModelTx | undefined {
    return this.all().find((other) => other.from === from && other.nonce === nonce);
  }
}

/** Geth's rule: a replacement pays a tenth more, on both fees. */
function outbids(tx: ModelTx, rival: ModelTx): boolean {
  return (
    tx.maxFeePerGas * 10n >= rival.maxFeePerGas * 11n &&
    tx.maxPriorityFeePerGas * 10n >= rival.maxPriorityFeePerGas * 11n
  );
}
