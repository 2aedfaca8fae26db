import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type BlockRef, type ChainBlocks, Chains, BLOCKS_PER_CALL, readBlocks } from '../../chain/index.js';
import { ManagedTx, MinedTxs } from '../../ledger/index.js';

/** Final txs of a signer to read at once, after its newest one was found orphaned. */
const PAGE_TXS = 100;
/** New blocks with which a search without a result is repeated. Limited, because a node without old blocks never has a result. */
const REPEAT_FOR_BLOCKS = 30;

interface Canonical {
  readonly hashes: ReadonlyMap<number, Hash | null>;
  /** All of our blocks below this height are canonical, also those that were not read. */
  readonly below: number;
}

export interface Search {
  readonly gone: readonly BlockRef[];
  /** Call this when what was found is dealt with. After a failure the same search is made again. */
  readonly keep: () => void;
}

interface Found {
  readonly gone: BlockRef[];
  /** False when the node did not return a block that must exist. */
  readonly isKnown: boolean;
}

/**
 * Finds orphaned blocks with final txs below the followed blocks. Only the receipts have the hashes of such blocks. Reads the txs of each
 * signer from the newest one down to the first one whose block is still canonical.
 */
@Injectable()
export class FindReorgedFinals {
  /** Searches that are left for chains whose last search had no complete result. */
  private readonly searchesLeft = new Map<ChainId, number>();

  constructor(
    private readonly chains: Chains,
    private readonly mined: MinedTxs,
    private readonly log: Log,
  ) {}

  /** Whether to search again with the next block. */
  isWaiting(chainId: ChainId): boolean {
    return this.searchesLeft.has(chainId);
  }

  /** @param isSuspected whether a reorg may have reached that deep now; if false, only a search without a complete result is repeated */
  async execute(chainId: ChainId, isSuspected: boolean): Promise<Search> {
    const searches = isSuspected ? REPEAT_FOR_BLOCKS : (this.searchesLeft.get(chainId) ?? 0);
    if (searches === 0) return { gone: [], keep: () => undefined };
    const { gone, isKnown } = await this.search(chainId);
    return {
      gone,
      keep: () => {
        if (isKnown || searches === 1) this.searchesLeft.delete(chainId);
        else this.searchesLeft.set(chainId, searches - 1);
      },
    };
  }

  private async search(chainId: ChainId): Promise<Found> {
    const chain = this.chains.get(chainId);
    const gone = new Map<Hash, BlockRef>();
    let isKnown = true;
    let txs = await this.mined.newestFinal(chainId, null, 1);
    for (let page = 1; txs.length > 0; page += 1) {
      const canonical = await canonicalHashes(chain, txs.flatMap(blockOf));
      // Only another block at the same height proves a reorg. A missing block proves nothing, but the blocks below may be orphaned.
      for (const block of txs.flatMap(blockOf)) if (isOther(block, canonical)) gone.set(block.hash, block);
      const open = bySigner(txs).filter((own) => blockOf(oldest(own)).every((block) => !isOn(block, canonical)));
      const known = open.filter((own) => own.flatMap(blockOf).some((block) => isOther(block, canonical)));
      isKnown &&= known.length === open.length;
      if (page > 1 && known.length < open.length)
        this.log.warn('failed to check final transactions for a reorg: no node has their blocks', {
          chainId,
          signers: open.length - known.length,
        });
      txs = await this.mined.newestFinal(chainId, (page > 1 ? known : open).map(oldest), PAGE_TXS);
    }
    return { gone: [...gone.values()], isKnown };
  }
}

/**
 * Reads hashes by height, null where the node has no block, from the highest of our blocks down to a call with canonical ones and no other. One
 * alone does not vouch for those below: it may be of a tx that was reopened, and is final again, while its neighbour's owner has not looked yet.
 */
async function canonicalHashes(chain: ChainBlocks, blocks: readonly BlockRef[]): Promise<Canonical> {
  const hashes = new Map<number, Hash | null>();
  const byHeight = groupBy(blocks, ({ number }) => number);
  const heights = [...byHeight.keys()].sort((a, b) => b - a);
  for (const numbers of inSlices(heights, BLOCKS_PER_CALL)) {
    const answers = await readBlocks(chain, numbers);
    for (const [index, number] of numbers.entries()) hashes.set(number, answers[index]?.hash ?? null);
    const own = numbers.flatMap((number) => byHeight.get(number) ?? []);
    const highest = own.find(({ number, hash }) => hashes.get(number) === hash);
    if (highest && !own.some((block) => isOther(block, { hashes }))) return { hashes, below: highest.number };
  }
  return { hashes, below: 0 };
}

function isOther({ number, hash }: BlockRef, { hashes }: Pick<Canonical, 'hashes'>): boolean {
  const canonicalHash = hashes.get(number) ?? null;
  return canonicalHash !== null && canonicalHash !== hash;
}

function isOn({ number, hash }: BlockRef, { hashes, below }: Canonical): boolean {
  return number < below || hashes.get(number) === hash;
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
