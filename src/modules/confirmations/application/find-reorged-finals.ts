import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type BlockRef, type ChainConnector, Chains, BLOCKS_PER_CALL, readBlocks } from '../../chain/index.js';
import { ManagedTx, ManagedTxRepository } from '../../transactions/index.js';

/** Final txs of a signer that are read at once, when its newest one is not on the chain any more. */
const PAGE = 100;
/** Blocks with which what was not known is looked at again; a node that has no old blocks never knows. */
const PATIENCE = 30;

interface Canonical {
  readonly hashes: ReadonlyMap<number, Hash | null>;
  /** The highest block of ours that is on the chain; everything below it is. */
  readonly agreed: number;
}

interface Found {
  readonly gone: BlockRef[];
  /** False when the node had no block at a height where it must have one. */
  readonly isKnown: boolean;
}

/**
 * Finds blocks with final transactions that a reorg took back below the blocks that are followed: nobody has their hashes but
 * the receipts. Reads each signer from its newest one down, to the first that is on the chain still.
 */
@Injectable()
export class FindReorgedFinals {
  /** Looks that are left to chains of which not everything was known. */
  private readonly looksLeft = new Map<ChainId, number>();

  constructor(
    private readonly chains: Chains,
    private readonly repository: ManagedTxRepository,
    private readonly log: Log,
  ) {}

  /** Whether something is to be looked at again with the next block. */
  isWaiting(chainId: ChainId): boolean {
    return this.looksLeft.has(chainId);
  }

  /** @param isSuspected whether a reorg may just have reached so far down; else only what was not known before is looked at again */
  async execute(chainId: ChainId, isSuspected: boolean): Promise<BlockRef[]> {
    const looks = isSuspected ? PATIENCE : (this.looksLeft.get(chainId) ?? 0);
    if (looks === 0) return [];
    const { gone, isKnown } = await this.look(chainId);
    if (isKnown || looks === 1) this.looksLeft.delete(chainId);
    else this.looksLeft.set(chainId, looks - 1);
    return gone;
  }

  private async look(chainId: ChainId): Promise<Found> {
    const chain = this.chains.get(chainId);
    const gone = new Map<Hash, BlockRef>();
    let isKnown = true;
    let txs = await this.repository.newestFinal(chainId, null, 1);
    for (let page = 1; txs.length > 0; page += 1) {
      const canonical = await canonicalHashes(chain, txs.flatMap(blockOf));
      // Only another block proves a fork. One that the node does not have proves nothing, but the ones below may be gone.
      for (const block of txs.flatMap(blockOf)) if (isOther(block, canonical)) gone.set(block.hash, block);
      const open = bySigner(txs).filter((own) => blockOf(oldest(own)).every((block) => !isOn(block, canonical)));
      const known = open.filter((own) => own.flatMap(blockOf).some((block) => isOther(block, canonical)));
      isKnown &&= known.length === open.length;
      if (page > 1 && known.length < open.length)
        this.log.warn('no node has the blocks of final transactions: whether they are on the chain is not known', {
          chainId,
          signers: open.length - known.length,
        });
      txs = await this.repository.newestFinal(chainId, (page > 1 ? known : open).map(oldest), PAGE);
    }
    return { gone: [...gone.values()], isKnown };
  }
}

/** By height, null where the node says no block. From the highest down, to the first that is right: what is below it is right, too. */
async function canonicalHashes(chain: ChainConnector, blocks: readonly BlockRef[]): Promise<Canonical> {
  const hashes = new Map<number, Hash | null>();
  const heights = [...new Set(blocks.map(({ number }) => number))].sort((a, b) => b - a);
  for (const numbers of inSlices(heights, BLOCKS_PER_CALL)) {
    const answers = await readBlocks(chain, numbers);
    for (const [index, number] of numbers.entries()) hashes.set(number, answers[index]?.hash ?? null);
    const agreed = blocks.filter(({ number, hash }) => hashes.get(number) === hash).map(({ number }) => number);
    if (agreed.length > 0) return { hashes, agreed: Math.max(...agreed) };
  }
  return { hashes, agreed: -1 };
}

function isOther({ number, hash }: BlockRef, { hashes }: Canonical): boolean {
  const there = hashes.get(number) ?? null;
  return there !== null && there !== hash;
}

function isOn({ number }: BlockRef, { agreed }: Canonical): boolean {
  return number <= agreed;
}

function blockOf(tx: ManagedTx): BlockRef[] {
  const { receipt } = tx.progress;
  return receipt ? [{ number: receipt.blockNumber, hash: receipt.blockHash }] : [];
}

function bySigner(txs: readonly ManagedTx[]): ManagedTx[][] {
  return [...groupBy(txs, ({ signer }) => signerKey(signer)).values()];
}

function oldest(own: readonly ManagedTx[]): ManagedTx {
  return own.reduce((found, tx) => (tx.nonce < found.nonce ? tx : found));
}
