import { Transaction } from 'ethers';
import type { Address, Hash } from '../../../src/kernel/hex.js';
import { minOf } from '../../../src/kernel/quantities.js';
import type { ModelBlock, ModelTx } from '../../support/model-chain.js';

/** Of every transaction here. */
const GAS_USED = 21_000n;
const PLENTY = 1_000n * 10n ** 18n;

/** What has to be there, and what is paid at most for it. */
interface Bill {
  readonly value: bigint;
  readonly gasLimit: bigint;
}

/** The money of the accounts: what came in by ways that no nonce shows, less what their transactions cost. Wei. */
export class Purses {
  private readonly given = new Map<Address, bigint>();
  private readonly bills = new Map<Hash, Bill>();

  /** Enough for everything, from now on. */
  fillAll(): void {
    this.given.clear();
  }

  /** So much is there now, whatever was spent before. */
  set(account: Address, wei: bigint, chain: readonly ModelBlock[]): void {
    this.given.set(account, wei + this.spent(account, chain));
  }

  balance(account: Address, chain: readonly ModelBlock[]): bigint {
    const left = (this.given.get(account) ?? PLENTY) - this.spent(account, chain);
    return left < 0n ? 0n : left;
  }

  /** What a node wants to see before it takes the transaction. */
  most(tx: ModelTx): bigint {
    const { value, gasLimit } = this.billOf(tx);
    return value + gasLimit * tx.maxFeePerGas;
  }

  private spent(account: Address, chain: readonly ModelBlock[]): bigint {
    let sum = 0n;
    for (const { txs, baseFeePerGas } of chain)
      for (const tx of txs) if (tx.from === account) sum += this.price(tx, baseFeePerGas ?? 0n);
    return sum;
  }

  private price(tx: ModelTx, baseFee: bigint): bigint {
    return this.billOf(tx).value + GAS_USED * minOf(tx.maxFeePerGas, baseFee + tx.maxPriorityFeePerGas);
  }

  private billOf({ hash, raw }: ModelTx): Bill {
    // Of a transaction of somebody else nobody has the bytes.
    if (raw === hash) return { value: 0n, gasLimit: GAS_USED };
    const known = this.bills.get(hash);
    if (known) return known;
    const { value, gasLimit } = Transaction.from(raw);
    this.bills.set(hash, { value, gasLimit });
    return { value, gasLimit };
  }
}
