import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { Log } from '../../../platform/logging/log.js';
import { type BlockHeader, type ChainConnector, type Receipt, RpcUnavailable } from '../../chain/index.js';

/** From here on, one call for the receipts of the whole block is cheaper than one for each of ours. */
const WHOLE_BLOCK_FROM = 2;

type BlockId = Pick<BlockHeader, 'number' | 'hash'>;
export type ReceiptsByHash = ReadonlyMap<Hash, Receipt>;

/** Receipts of transactions of one block. Whatever is not answered, or is from another block, is missing in the answer. */
@Injectable()
export class ReadReceipts {
  constructor(private readonly log: Log) {}

  /** In one call; nothing when there is no answer to it. Some nodes take longer for a very large block than anybody waits. */
  async atOnce(chain: ChainConnector, block: BlockId, hashes: readonly Hash[]): Promise<ReceiptsByHash> {
    if (hashes.length < WHOLE_BLOCK_FROM) return this.oneByOne(chain, block, hashes);
    try {
      return byHash(block, (await chain.blockReceipts(block.hash)) ?? []);
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('receipts of a block cannot be had', { chainId: chain.chainId, block: block.number, error });
      return new Map();
    }
  }

  async oneByOne(chain: ChainConnector, block: BlockId, hashes: readonly Hash[]): Promise<ReceiptsByHash> {
    const lookups = await chain.receipts(hashes);
    return byHash(
      block,
      lookups.flatMap((lookup) => (lookup.kind === 'found' ? [lookup.receipt] : [])),
    );
  }
}

/** Reads receipts once more, each block once, in however many pieces they are asked for. */
export class Rereading {
  private readonly known = new Map<Hash, Receipt>();
  private readonly blocks = new Set<Hash>();

  constructor(
    private readonly reader: ReadReceipts,
    private readonly chain: ChainConnector,
  ) {}

  /** @returns those that were had, by hash, and maybe others */
  async of(receipts: readonly Receipt[]): Promise<ReceiptsByHash> {
    for (const [hash, inBlock] of groupBy(receipts, ({ blockHash }) => blockHash)) {
      const block = { number: inBlock[0]?.blockNumber ?? 0, hash };
      const hashes = inBlock.map(({ txHash }) => txHash);
      if (!this.blocks.has(hash)) this.add(await this.reader.atOnce(this.chain, block, hashes));
      this.blocks.add(hash);
      const missing = hashes.filter((each) => !this.known.has(each));
      if (missing.length > 0) this.add(await this.reader.oneByOne(this.chain, block, missing));
    }
    return this.known;
  }

  private add(receipts: ReceiptsByHash): void {
    for (const [hash, receipt] of receipts) this.known.set(hash, receipt);
  }
}

/** One from another block means a reorg between two questions; that block will be walked, too. */
function byHash(block: BlockId, receipts: readonly Receipt[]): ReceiptsByHash {
  return new Map(
    receipts
      .filter(({ blockHash }) => blockHash === block.hash)
      .map((receipt): [Hash, Receipt] => [receipt.txHash, receipt]),
  );
}
