import type { Hash } from '../../../kernel/hex.js';
import type { Receipt, ReceiptLookup } from '../domain/block.js';
import type { RpcReply } from './json-rpc.js';
import { block, list, MalformedAnswer, receipt } from './parse-answer.js';
import { wordsOf, type RpcReader } from './rpc-reader.js';

/** One receipt per hash; an answer that cannot be used is `unavailable`, never `none`. */
export async function receiptsByHash(rpc: RpcReader, hashes: readonly Hash[]): Promise<ReceiptLookup[]> {
  const replies = await rpc.replies(
    'eth_getTransactionReceipt',
    hashes.map((hash) => [hash]),
  );
  return hashes.map((hash, i) => lookup(hash, replies[i]));
}

/** What a reply to the question for one receipt means. */
export function lookup(hash: Hash, reply: RpcReply | undefined): ReceiptLookup {
  if (reply?.kind !== 'result') return { kind: 'unavailable', message: wordsOf(reply) };
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

/** The receipts of one block: in one call where the node has it, else one by one; which of the two is learned once. */
export class BlockReceipts {
  private unsupported = false;

  constructor(private readonly rpc: RpcReader) {}

  /** @throws RpcUnavailable */
  async of(hash: Hash): Promise<Receipt[] | null> {
    const method = 'eth_getBlockReceipts';
    if (this.unsupported) return this.oneByOne(hash);
    const [reply] = await this.rpc.replies(method, [[hash]]);
    if (reply?.kind === 'error' && this.rpc.classOf(method, reply.error) === 'method_unsupported') {
      this.unsupported = true;
      return this.oneByOne(hash);
    }
    const found = this.rpc.parsed(method, reply, (value) =>
      value === null ? null : list(value, 'receipts').map(mined),
    );
    if (found?.some(({ blockHash }) => blockHash !== hash))
      throw this.rpc.malformed(method, 'receipts of another block');
    return found;
  }

  /** A transaction of ours that is now in another block, or in none, means that the block is no longer canonical. */
  private async oneByOne(hash: Hash): Promise<Receipt[] | null> {
    const parse = (value: unknown) => (value === null ? null : block(value));
    const found = await this.rpc.one('eth_getBlockByHash', [hash, false], parse);
    if (found === null) return null;
    const receipts: Receipt[] = [];
    for (const answer of await receiptsByHash(this.rpc, found.transactionHashes)) {
      if (answer.kind === 'unavailable') throw this.rpc.unavailable('eth_getTransactionReceipt', answer.message);
      if (answer.kind === 'none' || answer.receipt.blockHash !== hash) return null;
      receipts.push(answer.receipt);
    }
    return receipts;
  }
}

function mined(value: unknown): Receipt {
  const found = receipt(value);
  if (found === null) throw new MalformedAnswer('receipt.blockHash', 'a hash');
  return found;
}
