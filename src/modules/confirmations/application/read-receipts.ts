import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { Log } from '../../../platform/logging/log.js';
import { type Block, type BlockToProve, type ChainConnector, type Receipt, RpcUnavailable } from '../../chain/index.js';
import { ProvenReceipts } from './proven-receipts.js';

/** From here on, one call for the receipts of the whole block is cheaper than one for each of ours. */
const WHOLE_BLOCK_FROM = 2;

type NumberedBlock = BlockToProve & Pick<Block, 'number'>;
export type ReceiptsByHash = ReadonlyMap<Hash, Receipt>;

/** Receipts of transactions of one block. Whatever is not answered, or is from another block, is missing in the answer. */
@Injectable()
export class ReadReceipts {
  private readonly provenBefore = new ProvenReceipts();

  constructor(private readonly log: Log) {}

  /** In one call; nothing when there is no answer to it. Some nodes take longer for a very large block than anybody waits. */
  async atOnce(chain: ChainConnector, block: NumberedBlock, hashes: readonly Hash[]): Promise<ReceiptsByHash> {
    if (hashes.length < WHOLE_BLOCK_FROM) return this.oneByOne(chain, block.hash, hashes);
    try {
      const answer = await chain.blockReceipts(block);
      const found = byHash(block.hash, answer?.receipts ?? []);
      if (answer?.proven) this.provenBefore.add(block.hash, only(hashes, found));
      else if (block.receiptsRoot !== null)
        this.log.debug('the receipts of a block do not prove themselves', {
          chainId: chain.chainId,
          block: block.number,
        });
      return found;
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('receipts of a block cannot be had', { chainId: chain.chainId, block: block.number, error });
      return new Map();
    }
  }

  async oneByOne(chain: ChainConnector, block: Hash, hashes: readonly Hash[]): Promise<ReceiptsByHash> {
    const lookups = await chain.receipts(hashes);
    return byHash(
      block,
      lookups.flatMap((lookup) => (lookup.kind === 'found' ? [lookup.receipt] : [])),
    );
  }

  /** Those that were asked for at once, and that nobody needs to ask for again; without a question to the node. */
  proven(block: Hash): ReceiptsByHash {
    return this.provenBefore.in(block);
  }
}

/** Reads receipts once more where the first answer was no proof, each block once, in however many pieces they are asked for. */
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
      const proven = this.reader.proven(hash);
      const unproven = inBlock.filter(({ txHash }) => !proven.has(txHash));
      if (unproven.length > 0) await this.read(hash, unproven);
      // Last: an answer for the whole block has these, too, and says no more than the proof.
      this.add(proven);
    }
    return this.known;
  }

  private async read(hash: Hash, inBlock: readonly Receipt[]): Promise<void> {
    const hashes = inBlock.map(({ txHash }) => txHash);
    const agreed = await this.chain.agreedReceipts(hashes);
    if (agreed) {
      this.add(byHash(hash, agreed));
      return;
    }
    // One endpoint is all the evidence there is: its second answer must be the same as the first.
    if (!this.blocks.has(hash)) {
      // What this block says of its receipts was not kept; the second answer stands for itself.
      const block = { number: inBlock[0]?.blockNumber ?? 0, hash, receiptsRoot: null, transactionHashes: [] };
      this.add(await this.reader.atOnce(this.chain, block, hashes));
    }
    this.blocks.add(hash);
    const missing = hashes.filter((each) => !this.known.has(each));
    if (missing.length > 0) this.add(await this.reader.oneByOne(this.chain, hash, missing));
  }

  private add(receipts: ReceiptsByHash): void {
    for (const [hash, receipt] of receipts) this.known.set(hash, receipt);
  }
}

/** One from another block means a reorg between two questions; that block will be walked, too. */
function byHash(block: Hash, receipts: readonly Receipt[]): ReceiptsByHash {
  return new Map(
    receipts
      .filter(({ blockHash }) => blockHash === block)
      .map((receipt): [Hash, Receipt] => [receipt.txHash, receipt]),
  );
}

/** Without those that are not ours: a block may be full of them. */
function only(hashes: readonly Hash[], receipts: ReceiptsByHash): ReceiptsByHash {
  return new Map(
    hashes.flatMap((hash): [Hash, Receipt][] => {
      const receipt = receipts.get(hash);
      return receipt ? [[hash, receipt]] : [];
    }),
  );
}
