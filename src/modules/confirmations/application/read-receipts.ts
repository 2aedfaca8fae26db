import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { Log } from '../../../platform/logging/log.js';
import {
  type Block,
  type BlockToProve,
  type ChainConnector,
  type Receipt,
  RpcUnavailable,
  WHOLE_BLOCK_FROM,
} from '../../chain/index.js';
import { ProvenReceipts } from './proven-receipts.js';

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

  private async oneByOne(chain: ChainConnector, block: Hash, hashes: readonly Hash[]): Promise<ReceiptsByHash> {
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

/** What is said of receipts when they are read once more. */
export interface Reread {
  readonly found: ReceiptsByHash;
  /** The chain says that these were not mined, or elsewhere: whoever told of them was wrong. */
  readonly gone: ReadonlySet<Hash>;
}

/** Reads receipts once more where the first answer was no proof, from all endpoints, each once. */
export class Rereading {
  private readonly found = new Map<Hash, Receipt>();
  private readonly gone = new Set<Hash>();

  constructor(
    private readonly reader: ReadReceipts,
    private readonly chain: ChainConnector,
  ) {}

  /** @returns what is known of these, and maybe of others */
  async of(receipts: readonly Receipt[]): Promise<Reread> {
    const unproven: Receipt[] = [];
    for (const [hash, inBlock] of groupBy(receipts, ({ blockHash }) => blockHash)) {
      const proven = this.reader.proven(hash);
      for (const [txHash, receipt] of proven) this.found.set(txHash, receipt);
      unproven.push(...inBlock.filter(({ txHash }) => !this.found.has(txHash)));
    }
    const answers = await this.chain.agreedReceipts(unproven);
    unproven.forEach(({ txHash, blockHash }, index) => {
      const answer = answers[index];
      if (answer?.kind === 'found' && answer.receipt.blockHash === blockHash) this.found.set(txHash, answer.receipt);
      else if (answer?.kind === 'found' || answer?.kind === 'none') this.gone.add(txHash);
    });
    return { found: this.found, gone: this.gone };
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
