import { Transaction } from 'ethers';
import type { Hex } from '../../src/kernel/hex.js';
import { parseAddress, parseHash } from '../../src/kernel/hex.js';
import { ModelChain, type ModelTx } from '../support/model-chain.js';

/** The chain as it is, whatever any endpoint says of it. */
export class SimChain extends ModelChain {
  /** Calldata that reverts when it is mined. */
  readonly reverting = new Set<string>();
  /** The highest count that each account ever had: a reorg may have taken some of it back. */
  private readonly highest = new Map<string, bigint>();
  private readonly read = new Map<string, ModelTx>();

  constructor() {
    super();
    this.faults.status = ({ data }) => (this.reverting.has(data) ? 'reverted' : undefined);
  }

  override mine(limit = Infinity): ReturnType<ModelChain['mine']> {
    const block = super.mine(limit);
    for (const { from, nonce } of this.blockAt(block.number)?.txs ?? [])
      if (nonce >= (this.highest.get(from) ?? 0n)) this.highest.set(from, nonce + 1n);
    return block;
  }

  highestCount(account: string): bigint {
    return this.highest.get(account) ?? 0n;
  }

  isMined(data: string): boolean {
    return this.minedTxs().some((tx) => tx.data === data);
  }

  /** A transaction from its bytes; each is decoded once. */
  decode(raw: Hex): ModelTx {
    const known = this.read.get(raw);
    if (known) return known;
    const parsed = Transaction.from(raw);
    if (parsed.from === null || parsed.hash === null) throw new Error('bytes without a signature');
    const tx = {
      hash: parseHash(parsed.hash),
      from: parseAddress(parsed.from),
      nonce: BigInt(parsed.nonce),
      data: parsed.data,
      maxFeePerGas: parsed.maxFeePerGas ?? parsed.gasPrice ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? parsed.gasPrice ?? 0n,
      raw,
    };
    this.read.set(raw, tx);
    return tx;
  }
}
