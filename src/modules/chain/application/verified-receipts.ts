import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { Hash } from '../../../kernel/hex.js';
import { Log } from '../../../platform/logging/log.js';
import {
  type Block,
  type BlockToProve,
  isWholeBlockCheaper,
  type Receipt,
  type ReceiptsByHash,
} from '../domain/block.js';
import type { ChainReceipts } from '../domain/chain-connector.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import { ProvenReceipts } from './proven-receipts.js';

type NumberedBlock = BlockToProve & Pick<Block, 'number'>;

/** The result of {@link VerifiedReceipts.verify}. A receipt that is in neither part could not be verified now. */
export interface VerifiedAnswer {
  readonly found: ReceiptsByHash;
  /** Transactions that are in no block, or in another block than their stored receipt says. */
  readonly gone: ReadonlySet<Hash>;
}

/**
 * Reads receipts twice: first when their block is new, and again before they become final. Receipts that the receiptsRoot of the
 * block header proves on the first read are remembered and cost no second read; the others are read again from all endpoints.
 */
@Injectable()
export class VerifiedReceipts {
  private readonly proven = new ProvenReceipts();

  constructor(private readonly log: Log) {}

  /**
   * Receipts of transactions of one block, in one round trip. Receipts that were not answered, or that are from another block, are
   * missing in the result. An RPC failure gives an empty result: some nodes need longer than the time-out for a very large block.
   */
  async ofBlock(chain: ChainReceipts, block: NumberedBlock, hashes: readonly Hash[]): Promise<ReceiptsByHash> {
    const isAlone = !isWholeBlockCheaper(hashes.length);
    if (isAlone) {
      const lookups = await chain.receipts(hashes);
      // A node that does not know its transactions by their hashes may know them by their block.
      if (lookups.every(({ kind }) => kind !== 'none'))
        return inBlock(
          block.hash,
          lookups.flatMap((lookup) => (lookup.kind === 'found' ? [lookup.receipt] : [])),
        );
    }
    try {
      return await this.wholeBlock(chain, block, hashes, isAlone);
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('failed to fetch block receipts', { chainId: chain.chainId, block: block.number, error });
      return new Map();
    }
  }

  /**
   * Verifies receipts that were stored earlier: against the remembered proofs, which costs no call, else against what the endpoints
   * agree on now.
   *
   * @returns at least the given receipts that could be verified; `found` may contain other receipts of the same blocks
   */
  async verify(chain: ChainReceipts, receipts: readonly Receipt[]): Promise<VerifiedAnswer> {
    const found = new Map<Hash, Receipt>();
    const gone = new Set<Hash>();
    const unclear: { readonly txHash: Hash; readonly error: string }[] = [];
    const storedIn = new Map(receipts.map(({ txHash, blockHash }) => [txHash, blockHash]));
    for (const block of groupBy(receipts, ({ blockHash }) => blockHash).keys())
      for (const [txHash, receipt] of this.proven.in(block))
        // The block of another one may prove it, where one endpoint told a block that it is not in.
        if ((storedIn.get(txHash) ?? block) === block) found.set(txHash, receipt);
    const unproven = receipts.filter(({ txHash }) => !found.has(txHash));
    const answers = await chain.agreedReceipts(unproven);
    unproven.forEach(({ txHash, blockHash }, index) => {
      const answer = answers[index];
      if (answer?.kind === 'found' && answer.receipt.blockHash === blockHash) found.set(txHash, answer.receipt);
      else if (answer?.kind === 'found' || answer?.kind === 'none') gone.add(txHash);
      else if (answer?.kind === 'unclear') unclear.push({ txHash, error: answer.message });
    });
    const [first] = unclear;
    if (first)
      this.log.warn('receipts cannot be verified', { chainId: chain.chainId, count: unclear.length, ...first });
    return { found, gone };
  }

  private async wholeBlock(
    chain: ChainReceipts,
    block: NumberedBlock,
    hashes: readonly Hash[],
    atOnce: boolean,
  ): Promise<ReceiptsByHash> {
    const answer = await chain.blockReceipts(block, atOnce);
    const found = inBlock(block.hash, answer?.receipts ?? []);
    if (answer?.proven) this.proven.add(block.hash, only(hashes, found));
    else if (block.receiptsRoot !== null)
      this.log.debug('block receipts are not proven by the receipts root', {
        chainId: chain.chainId,
        block: block.number,
      });
    return found;
  }
}

/** A receipt from another block means that a reorg happened between two calls. The head tracker will read that block, too. */
function inBlock(block: Hash, receipts: readonly Receipt[]): ReceiptsByHash {
  return new Map(
    receipts
      .filter(({ blockHash }) => blockHash === block)
      .map((receipt): [Hash, Receipt] => [receipt.txHash, receipt]),
  );
}

/** Drops the receipts of foreign transactions: a block may have thousands of them. */
function only(hashes: readonly Hash[], receipts: ReceiptsByHash): ReceiptsByHash {
  return new Map(
    hashes.flatMap((hash): [Hash, Receipt][] => {
      const receipt = receipts.get(hash);
      return receipt ? [[hash, receipt]] : [];
    }),
  );
}
