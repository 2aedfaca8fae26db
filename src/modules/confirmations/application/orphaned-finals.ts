import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { type BlockHeader, type ChainConnector, Chains } from '../../chain/index.js';
import { ManagedTx, ManagedTxRepository } from '../../transactions/index.js';

/** Blocks asked for at once. */
const STRIDE = 50;
/** Final txs of a signer that are read at once, when its newest one is not on the chain any more. */
const PAGE = 100;

type BlockId = Pick<BlockHeader, 'number' | 'hash'>;

/**
 * Finds blocks with final transactions that a reorg took back below the blocks that are followed: nobody has their hashes but
 * the receipts. Reads each signer from its newest one down, to the first that is on the chain still.
 */
@Injectable()
export class OrphanedFinals {
  constructor(
    private readonly chains: Chains,
    private readonly repository: ManagedTxRepository,
  ) {}

  async execute(chainId: ChainId): Promise<BlockId[]> {
    const chain = this.chains.get(chainId);
    const gone = new Map<Hash, BlockId>();
    let txs = await this.repository.newestFinal(chainId, null, 1);
    while (txs.length > 0) {
      const canonical = await canonicalHashes(chain, txs.flatMap(blockOf));
      // Only another block proves a fork. One that the node does not have proves nothing, but the ones below may be gone.
      for (const block of txs.flatMap(blockOf)) if (isOther(block, canonical)) gone.set(block.hash, block);
      const goOn = oldestOfEach(txs).filter((tx) => blockOf(tx).every((block) => !isOn(block, canonical)));
      txs = await this.repository.newestFinal(chainId, goOn, PAGE);
    }
    return [...gone.values()];
  }
}

/** By height, null where the node has no block. From the highest down; what is below a block that is right is not asked for. */
async function canonicalHashes(
  chain: ChainConnector,
  blocks: readonly BlockId[],
): Promise<ReadonlyMap<number, Hash | null>> {
  const known = new Map<number, Hash | null>();
  const heights = [...new Set(blocks.map(({ number }) => number))].sort((a, b) => b - a);
  for (let at = 0; at < heights.length; at += STRIDE) {
    const numbers = heights.slice(at, at + STRIDE);
    const answers = await chain.blocks(numbers);
    for (const [index, number] of numbers.entries()) known.set(number, answers[index]?.hash ?? null);
    if (blocks.some(({ number, hash }) => known.get(number) === hash)) break;
  }
  return known;
}

function isOther({ number, hash }: BlockId, canonical: ReadonlyMap<number, Hash | null>): boolean {
  const there = canonical.get(number) ?? null;
  return there !== null && there !== hash;
}

function isOn({ number, hash }: BlockId, canonical: ReadonlyMap<number, Hash | null>): boolean {
  return !canonical.has(number) || canonical.get(number) === hash;
}

function blockOf(tx: ManagedTx): BlockId[] {
  const { receipt } = tx.progress;
  return receipt ? [{ number: receipt.blockNumber, hash: receipt.blockHash }] : [];
}

function oldestOfEach(txs: readonly ManagedTx[]): ManagedTx[] {
  return [...groupBy(txs, ({ signer }) => signerKey(signer)).values()].map((own) =>
    own.reduce((oldest, tx) => (tx.nonce < oldest.nonce ? tx : oldest)),
  );
}
