import type { Hash } from '../../../kernel/hex.js';
import {
  type BlockReceipts,
  type BlockToProve,
  isWholeBlockCheaper,
  type Receipt,
  type ReceiptLookup,
} from '../domain/block.js';
import { groupBy } from '../../../kernel/group-by.js';
import type { PlacedTx } from '../domain/chain-connector.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import type { RpcReply } from './rpc/json-rpc.js';
import { block, list, MalformedAnswer, receipt } from './parse-answer.js';
import { receiptsRoot } from './receipts-root.js';
import { reasonOf, type RpcReader } from './rpc/rpc-reader.js';

/** One lookup per hash. An answer that cannot be used is `unavailable`, never `none`. */
export async function receiptsByHash(rpc: RpcReader, hashes: readonly Hash[]): Promise<ReceiptLookup[]> {
  const replies = await rpc.replies(
    'eth_getTransactionReceipt',
    hashes.map((hash) => [hash]),
  );
  return hashes.map((hash, i) => lookup(hash, replies[i]));
}

/** Parses the reply to `eth_getTransactionReceipt`. */
export function lookup(hash: Hash, reply: RpcReply | undefined): ReceiptLookup {
  if (reply?.kind !== 'result') return { kind: 'unavailable', message: reasonOf(reply) };
  if (reply.value === null) return { kind: 'none' };
  try {
    const found = receipt(reply.value);
    if (found === null) return { kind: 'none' };
    if (found.txHash === hash) return { kind: 'found', receipt: found };
    return { kind: 'unavailable', message: 'receipt of another transaction' };
  } catch (error) {
    if (error instanceof MalformedAnswer) return { kind: 'unavailable', message: error.message };
    throw error;
  }
}

/** Reads the receipts of one block: in one call where the endpoint supports it, else one by one. It learns once which of the two works. */
export class ReceiptsOfBlock {
  private unsupported = false;

  constructor(private readonly rpc: RpcReader) {}

  /** @throws RpcUnavailable */
  async of(asked: BlockToProve): Promise<BlockReceipts | null> {
    const method = 'eth_getBlockReceipts';
    if (this.unsupported) return this.oneByOne(asked);
    const [reply] = await this.rpc.replies(method, [[asked.hash]]);
    if (reply?.kind === 'error' && this.rpc.classOf(method, reply.error) === 'method_unsupported') {
      this.unsupported = true;
      return this.oneByOne(asked);
    }
    const raw = this.rpc.parsed(method, reply, (value) => (value === null ? null : list(value, 'receipts')));
    if (raw === null) return null;
    const receipts = this.rpc.parsed(method, reply, () => raw.map(mined));
    if (receipts.some(({ blockHash }) => blockHash !== asked.hash))
      throw this.rpc.malformed(method, 'receipts of another block');
    return { receipts, proven: isProven(asked, receipts, raw) };
  }

  /** Reads whole blocks where that saves calls; receipts that are no longer in their block are read by hash. */
  async again(known: readonly PlacedTx[]): Promise<ReceiptLookup[]> {
    const found = new Map<Hash, Receipt>();
    for (const [blockHash, inBlock] of groupBy(known, (placed) => placed.blockHash)) {
      if (!isWholeBlockCheaper(inBlock.length)) continue;
      for (const receipt of await this.inBlock(blockHash)) found.set(receipt.txHash, receipt);
    }
    const others = known.map(({ txHash }) => txHash).filter((txHash) => !found.has(txHash));
    const answers = new Map((await receiptsByHash(this.rpc, others)).map((answer, i) => [others[i], answer]));
    return known.map(({ txHash }): ReceiptLookup => {
      const receipt = found.get(txHash);
      if (receipt) return { kind: 'found', receipt };
      return answers.get(txHash) ?? { kind: 'unavailable', message: 'no answer' };
    });
  }

  private async inBlock(hash: Hash): Promise<readonly Receipt[]> {
    try {
      return (await this.of({ hash, receiptsRoot: null, transactionHashes: [] }))?.receipts ?? [];
    } catch (error) {
      if (error instanceof RpcUnavailable) return [];
      throw error;
    }
  }

  /** Null when a transaction is now in another block, or in none: then the block is no longer canonical. */
  private async oneByOne(asked: BlockToProve): Promise<BlockReceipts | null> {
    const method = 'eth_getTransactionReceipt';
    const parse = (value: unknown) => (value === null ? null : block(value));
    const found = await this.rpc.one('eth_getBlockByHash', [asked.hash, false], parse);
    if (found === null) return null;
    const hashes = found.transactionHashes;
    const replies = await this.rpc.replies(
      method,
      hashes.map((hash) => [hash]),
    );
    const receipts: Receipt[] = [];
    for (const [i, hash] of hashes.entries()) {
      const answer = lookup(hash, replies[i]);
      if (answer.kind === 'unavailable') throw this.rpc.unavailable(method, answer.message);
      if (answer.kind === 'none' || answer.receipt.blockHash !== asked.hash) return null;
      receipts.push(answer.receipt);
    }
    const raw = replies.map((reply) => (reply.kind === 'result' ? reply.value : null));
    return { receipts, proven: isProven(asked, receipts, raw) };
  }
}

/** The root does not contain transaction hashes, so the receipts must be in the order of the transactions of the block. */
function isProven(asked: BlockToProve, receipts: readonly Receipt[], raw: readonly unknown[]): boolean {
  if (asked.receiptsRoot === null || receipts.length !== asked.transactionHashes.length) return false;
  if (receipts.some(({ txHash }, i) => txHash !== asked.transactionHashes[i])) return false;
  return receiptsRoot(raw) === asked.receiptsRoot;
}

function mined(value: unknown): Receipt {
  const found = receipt(value);
  if (found === null) throw new MalformedAnswer('receipt.blockHash', 'a hash');
  return found;
}
