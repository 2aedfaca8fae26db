import { Transaction } from 'ethers';
import type { Hash } from '../../../src/kernel/hex.js';
import { receiptsRoot } from '../../../src/modules/chain/infrastructure/receipts-root.js';
import type { ModelBlock, ModelTx } from '../../support/model-chain.js';
import { tipOf } from './market.js';

const NO_BLOOM = `0x${'0'.repeat(512)}`;
const GAS = 21_000;
/** A root that no receipts have: as on a rollup, which hashes other fields. */
const OTHER_ROOT = `0x${'5'.repeat(64)}`;

export type StatusOf = (tx: ModelTx) => 'success' | 'reverted';

export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** As `eth_getTransactionReceipt` and `eth_getBlockReceipts` have them, with all that is hashed into the root. */
export function receiptsOf(block: ModelBlock, statusOf: StatusOf): Record<string, unknown>[] {
  return block.txs.map((tx, index) => ({
    transactionHash: tx.hash,
    transactionIndex: hex(index),
    blockHash: block.hash,
    blockNumber: hex(block.number),
    from: tx.from,
    status: statusOf(tx) === 'success' ? '0x1' : '0x0',
    type: '0x2',
    gasUsed: hex(GAS),
    cumulativeGasUsed: hex(GAS * (index + 1)),
    effectiveGasPrice: hex(priceIn(tx, block)),
    contractAddress: null,
    logsBloom: NO_BLOOM,
    logs: [],
  }));
}

/** Wei per gas, as it was paid. */
function priceIn(tx: ModelTx, { baseFeePerGas }: ModelBlock): bigint {
  return (baseFeePerGas ?? 0n) + tipOf(tx, baseFeePerGas ?? 0n);
}

/** Headers with the roots of their receipts, or with a root that proves nothing. */
export class Headers {
  private readonly roots = new Map<Hash, string>();

  constructor(
    private readonly proven: boolean,
    private readonly statusOf: StatusOf,
  ) {}

  block(block: ModelBlock, full: boolean): Record<string, unknown> {
    return {
      number: hex(block.number),
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: hex(block.timestamp ?? 0),
      baseFeePerGas: hex(block.baseFeePerGas ?? 0n),
      receiptsRoot: this.proven ? this.rootOf(block) : OTHER_ROOT,
      transactions: full ? block.txs.map((tx) => transaction(tx, block)) : block.transactionHashes,
    };
  }

  private rootOf(block: ModelBlock): string {
    const known = this.roots.get(block.hash);
    if (known !== undefined) return known;
    const root = receiptsRoot(receiptsOf(block, this.statusOf)) ?? OTHER_ROOT;
    this.roots.set(block.hash, root);
    return root;
  }
}

/** @param block null while it is in a pool */
export function transaction(tx: ModelTx, block: ModelBlock | null): Record<string, unknown> {
  return {
    hash: tx.hash,
    from: tx.from,
    nonce: hex(tx.nonce),
    input: tx.data,
    ...signedFields(tx),
    blockHash: block?.hash ?? null,
    blockNumber: block ? hex(block.number) : null,
  };
}

/** Whatever else is in the bytes; nothing of a transaction of somebody else, whose bytes nobody has. */
function signedFields({ hash, raw }: ModelTx): Record<string, unknown> {
  if (raw === hash) return {};
  const { type, to, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, chainId, signature } = Transaction.from(raw);
  return {
    type: hex(type ?? 0),
    chainId: hex(chainId),
    to,
    value: hex(value),
    gas: hex(gasLimit),
    maxFeePerGas: hex(maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: hex(maxPriorityFeePerGas ?? 0n),
    r: signature?.r,
    s: signature?.s,
    yParity: hex(signature?.yParity ?? 0),
  };
}
