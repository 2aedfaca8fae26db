import type { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import {
  type BlockReceipts,
  type BlockToProve,
  executionAmong,
  isWholeBlockCheaper,
  type Receipt,
  type ReceiptLookup,
} from '../domain/block.js';
import { groupBy } from '../../../kernel/group-by.js';
import type { PlacedTx } from '../domain/chain-connector.js';
import { RpcUnavailable } from '../domain/rpc-unavailable.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { type IsUnsupported, listedReceipts } from './listed-receipts.js';
import { block, list, MalformedAnswer, readableReceipt, receipt, type Untold } from './parse-answer.js';
import { receiptsRoot } from './receipts-root.js';
import { reasonOf, type RpcReader, toldBy } from './rpc/rpc-reader.js';

/** Then it is asked again: another endpoint may answer, or a newer version of it. */
const UNSUPPORTED_MS = 600_000;
const [BY_HASH, BY_BLOCK] = ['eth_getTransactionReceipt', 'eth_getBlockReceipts'];
const contradicted = (reverted: string, succeeded: string): ReceiptLookup => ({
  kind: 'unclear',
  message: `${reverted} says that it reverted, and ${succeeded} that it succeeded`,
});

/** One lookup per hash. An answer that cannot be used is never `none`. */
export async function receiptsByHash(rpc: RpcReader, hashes: readonly Hash[]): Promise<ReceiptLookup[]> {
  const replies = await rpc.replies(
    'eth_getTransactionReceipt',
    hashes.map((hash) => [hash]),
  );
  return hashes.map((hash, i) => lookup(hash, replies[i], rpc.untoldBy(replies[i])));
}

/** Parses the reply to `eth_getTransactionReceipt`. */
export function lookup(hash: Hash, reply: RpcReply | undefined, untold?: Untold): ReceiptLookup {
  if (reply?.kind !== 'result') return { kind: 'unavailable', message: reasonOf(reply) };
  if (reply.value === null) return { kind: 'none' };
  try {
    const found = receipt(reply.value, untold);
    if (found === null) return { kind: 'none' };
    if (found.txHash === hash) return { kind: 'found', receipt: found };
    return { kind: 'unclear', message: toldBy(reply, 'receipt of another transaction') };
  } catch (error) {
    if (error instanceof MalformedAnswer) return { kind: 'unclear', message: toldBy(reply, error.message) };
    throw error;
  }
}

/** Reads the receipts of one block: in one call where the endpoint supports it, else one by one. It learns which of the two works. */
export class ReceiptsOfBlock {
  private unsupportedUntilMs = 0;

  constructor(
    private readonly rpc: RpcReader,
    private readonly clock: Clock,
  ) {}

  readonly isUnsupported: IsUnsupported = (error) => this.rpc.classOf(BY_BLOCK, error) === 'method_unsupported';

  /**
   * Without the receipts that cannot be read, and without those that contradict each other: they are asked for by hash, which tells what is
   * wrong.
   *
   * @param atOnce not one by one: null where the endpoint has no receipts of blocks
   * @throws RpcUnavailable
   */
  async of(asked: BlockToProve, atOnce = false): Promise<BlockReceipts | null> {
    const told = await this.told(asked, atOnce);
    return told && { ...told, receipts: await this.executions(told.receipts) };
  }

  /** As the endpoint tells them, copies included. */
  private async told(asked: BlockToProve, atOnce = false): Promise<BlockReceipts | null> {
    const method = BY_BLOCK;
    if (this.unsupported) return atOnce ? null : this.oneByOne(asked);
    const [reply] = await this.rpc.replies(method, [[asked.hash]]);
    if (reply?.kind === 'error' && this.isUnsupported(reply.error)) {
      this.unsupportedUntilMs = this.clock.monotonicMs() + UNSUPPORTED_MS;
      return atOnce ? null : this.oneByOne(asked);
    }
    const raw = this.rpc.parsed(method, reply, (value) => (value === null ? null : list(value, 'receipts')));
    if (raw === null) return null;
    const receipts = this.rpc.parsed(method, reply, (_, untold) =>
      raw.flatMap((item) => readableReceipt(item, untold) ?? []),
    );
    if (receipts.some(({ blockHash }) => blockHash !== asked.hash))
      throw this.rpc.malformed(method, 'receipts of another block');
    return { receipts, proven: isProven(asked, receipts, raw) };
  }

  private get unsupported(): boolean {
    return this.clock.monotonicMs() < this.unsupportedUntilMs;
  }

  /** Reads whole blocks where that saves calls; receipts that are no longer in their block, and reverts, are read by hash. */
  async again(known: readonly PlacedTx[]): Promise<ReceiptLookup[]> {
    const found = new Map<Hash, Receipt>();
    const reverted = new Map<Hash, Hash>();
    for (const [blockHash, inBlock] of groupBy(known, (placed) => placed.blockHash)) {
      if (!isWholeBlockCheaper(inBlock.length)) continue;
      for (const receipt of await this.executions(await this.inBlock(blockHash)))
        if (receipt.status === 'success') found.set(receipt.txHash, receipt);
        else reverted.set(receipt.txHash, blockHash);
    }
    const others = known.map(({ txHash }) => txHash).filter((txHash) => !found.has(txHash));
    const answers = new Map((await receiptsByHash(this.rpc, others)).map((answer, i) => [others[i], answer]));
    const unknown = known.filter(({ txHash }) => answers.get(txHash)?.kind === 'none');
    const ask = async ([first, ...others]: readonly RpcRequest[]) =>
      first
        ? [
            await this.rpc.replies(
              first.method,
              [first, ...others].map(({ params }) => params),
            ),
          ]
        : [];
    const [listed] = await listedReceipts(ask, unknown, this.isUnsupported, (reply) => this.rpc.untoldBy(reply));
    for (const [txHash, answer] of listed ?? []) answers.set(txHash, answer);
    return known.map(({ txHash }): ReceiptLookup => {
      const receipt = found.get(txHash);
      if (receipt) return { kind: 'found', receipt };
      const answer = answers.get(txHash);
      // Another block may execute what failed in this one, where that left its nonce free.
      const isOfBlock = answer?.kind === 'found' && answer.receipt.blockHash === reverted.get(txHash);
      if (isOfBlock && answer.receipt.status === 'success') return contradicted(BY_BLOCK, BY_HASH);
      return answer ?? { kind: 'unavailable', message: 'no answer' };
    });
  }

  /**
   * Nodes show copies of a transaction that failed, beside its execution. So a revert that is told by hash counts only while the receipts of
   * its block do not contradict it (docs/invariants.md, K3): a client pays again for what is FAILED.
   */
  async unlessContradicted(answers: readonly ReceiptLookup[]): Promise<ReceiptLookup[]> {
    const reverted = answers.flatMap((answer) =>
      answer.kind === 'found' && answer.receipt.status === 'reverted' ? [answer.receipt] : [],
    );
    const wrong = new Set<Receipt>();
    for (const [blockHash, told] of groupBy(reverted, (each) => each.blockHash)) {
      if (this.unsupported) break;
      const copies = groupBy(await this.inBlock(blockHash), ({ txHash }) => txHash);
      for (const each of told) if (executionAmong(copies.get(each.txHash) ?? [])?.status === 'success') wrong.add(each);
    }
    return answers.map((answer) =>
      answer.kind === 'found' && wrong.has(answer.receipt) ? contradicted(BY_HASH, BY_BLOCK) : answer,
    );
  }

  /** Empty when they cannot be read. */
  private async inBlock(hash: Hash): Promise<readonly Receipt[]> {
    try {
      return (await this.told({ hash, receiptsRoot: null, transactionHashes: [] }))?.receipts ?? [];
    } catch (error) {
      if (error instanceof RpcUnavailable) return [];
      throw error;
    }
  }

  /** One receipt for each transaction. Where a block has two of them with different statuses, the answer by hash must agree. */
  private async executions(receipts: readonly Receipt[]): Promise<readonly Receipt[]> {
    if (new Set(receipts.map(({ txHash }) => txHash)).size === receipts.length) return receipts;
    const byTx = groupBy(receipts, ({ txHash }) => txHash);
    const firsts = [...byTx.values()].flatMap((copies) => executionAmong(copies) ?? []);
    const inDoubt = firsts.filter(({ txHash, status }) => byTx.get(txHash)?.some((copy) => copy.status !== status));
    const answers = await receiptsByHash(
      this.rpc,
      inDoubt.map(({ txHash }) => txHash),
    );
    const contradicted = inDoubt.filter(({ status }, i) => {
      const answer = answers[i];
      return answer?.kind !== 'found' || answer.receipt.status !== status;
    });
    return firsts.filter((each) => !contradicted.includes(each));
  }

  /** Null when a transaction is now in another block, or in none: then the block is no longer canonical. */
  private async oneByOne(asked: BlockToProve): Promise<BlockReceipts | null> {
    const method = 'eth_getTransactionReceipt';
    const found = await this.rpc.one('eth_getBlockByHash', [asked.hash, false], (value, untold) =>
      value === null ? null : block(value, untold),
    );
    if (found === null) return null;
    const hashes = found.transactionHashes;
    const replies = await this.rpc.replies(
      method,
      hashes.map((hash) => [hash]),
    );
    const receipts: Receipt[] = [];
    for (const [i, hash] of hashes.entries()) {
      const answer = lookup(hash, replies[i], this.rpc.untoldBy(replies[i]));
      if (answer.kind === 'unclear') continue;
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
