import type { Clock } from '../../../kernel/clock.js';
import type { Address, Hash } from '../../../kernel/hex.js';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import { assertOutsideTransaction } from '../../../platform/database/transaction-scope.js';
import type { Agreed, AgreedCount } from '../domain/evidence.js';
import type { Block, BlockHeader, BlockReceipts, BlockToProve, ReceiptLookup } from '../domain/block.js';
import type { BroadcastOutcome } from '../domain/broadcast-outcome.js';
import {
  type ChainConnector,
  type BlockTag,
  type FinalityTag,
  type PermitNonceQuestion,
  type PlacedTx,
  type SignedBytes,
} from '../domain/chain-connector.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import type { Call, GasEstimate } from '../domain/gas-estimate.js';
import { type DataOfCall, type L1DataFees, NoL1DataFees } from '../domain/l1-data-fees.js';
import type {
  AccountCounts,
  MinedQuestion,
  MinedTransactions,
  PooledQuestion,
  PooledTransactions,
  SentTransaction,
} from '../domain/sent-transaction.js';
import type { BlobProofs } from '../../../config/sections/chain-config.js';
import type { NonceUse, NonceQuestion } from '../domain/nonce-use.js';
import type { UsedCount, UsedNonces } from '../domain/used-nonces.js';
import { agreedBlocks, agreedCounts, agreedReceipts, equalCounts, usedCounts } from './agreed-answers.js';
import { BlobSends } from './blob-sends.js';
import { broadcast } from './broadcast-reply.js';
import { FeeQuotes } from './fee-quotes.js';
import { estimateGas } from './gas-estimates.js';
import { minedTransactions } from './mined-transactions.js';
import {
  block,
  blockHeader,
  hexQuantity,
  isDelegation,
  isPreconfirmed,
  quantity,
  smallNumber,
} from './parse-answer.js';
import { agreedPermitNonces, permitNonces } from './permit-nonces.js';
import { accountCounts, pooledTransactions } from './pooled-transactions.js';
import { ReceiptsOfBlock, receiptsByHash } from './receipt-lookups.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';
import { sentTransaction } from './sent-transaction-answer.js';
import { nonceUses } from './nonce-uses.js';

/** An EVM chain over JSON-RPC. ethers decodes; it does not send: its provider hides retries, batching and raw errors. */
export class EthersChainConnector implements ChainConnector {
  readonly chainId: ChainId;
  private readonly quotes: FeeQuotes;
  private readonly receiptsOf: ReceiptsOfBlock;
  private readonly blobSends: BlobSends;
  /** Calls of {@link nonceUses}. */
  private nonceUseRounds = 0;

  /** `minTip`: no quote offers less, wei per gas. */
  constructor(
    private readonly pool: RpcPool,
    private readonly rpc: RpcReader,
    clock: Clock,
    minTip: bigint,
    blobProofs: BlobProofs,
    private readonly dataFees: L1DataFees = new NoL1DataFees(),
  ) {
    this.chainId = rpc.chainId;
    this.quotes = new FeeQuotes(pool, rpc, clock, minTip);
    this.receiptsOf = new ReceiptsOfBlock(rpc, clock);
    this.blobSends = new BlobSends(blobProofs);
  }

  async head(): Promise<BlockHeader> {
    const latest = await this.rpc.one('eth_getBlockByNumber', ['latest', false], (value, untold) =>
      value === null || isPreconfirmed(value) ? null : blockHeader(value, untold),
    );
    const head = latest ?? (await this.newestReal());
    this.quotes.sawHead(head);
    return head;
  }

  async taggedHead(tag: FinalityTag): Promise<BlockHeader | null> {
    return this.rpc.one('eth_getBlockByNumber', [tag, false], (value) => (value === null ? null : blockHeader(value)));
  }

  async blocks(numbers: readonly number[]): Promise<(Block | null)[]> {
    const method = 'eth_getBlockByNumber';
    const params = numbers.map((number) => [hexQuantity(number), false]);
    const replies = await this.rpc.replies(method, params);
    // A height may have no block (docs/invariants.md, K4): then the node answers with an error, with null, or with the block before.
    const isAnswering = replies.some(({ kind }) => kind === 'result');
    return numbers.map((number, i) => {
      if (replies[i]?.kind === 'error' && isAnswering) return null;
      const found = this.rpc.parsed(method, replies[i], (value, untold) =>
        value === null || isPreconfirmed(value) ? null : block(value, untold),
      );
      if (found !== null && found.number > number)
        throw this.rpc.malformed(method, `block ${found.number} was not asked for`);
      return found?.number === number ? found : null;
    });
  }

  async receipts(hashes: readonly Hash[]): Promise<ReceiptLookup[]> {
    return this.receiptsOf.unlessContradicted(await receiptsByHash(this.rpc, hashes));
  }

  async blockReceipts(block: BlockToProve, atOnce = false): Promise<BlockReceipts | null> {
    return this.receiptsOf.of(block, atOnce);
  }

  async transactionCounts(accounts: readonly Address[], tag: BlockTag): Promise<Nonce[]> {
    const params = accounts.map((account) => [account, tag]);
    return this.rpc.all('eth_getTransactionCount', params, (value) => quantity(value, 'count'));
  }

  async agreedCounts(accounts: readonly Address[], tag: BlockTag): Promise<(AgreedCount | null)[]> {
    return agreedCounts(this.pool, accounts, tag);
  }

  async equalCounts(accounts: readonly Address[]): Promise<(AgreedCount | null)[]> {
    return equalCounts(this.pool, accounts);
  }

  async usedCounts(nonces: readonly UsedNonces[]): Promise<UsedCount[]> {
    return usedCounts(this.pool, nonces);
  }

  async agreedBlocks(numbers: readonly number[]): Promise<(Agreed<Hash> | null)[]> {
    return agreedBlocks(this.pool, numbers);
  }

  async agreedReceipts(known: readonly PlacedTx[]): Promise<ReceiptLookup[]> {
    return this.receiptsOf.unlessContradicted(
      this.pool.hasOneEndpoint
        ? await this.receiptsOf.again(known)
        : await agreedReceipts(this.pool, known, this.receiptsOf.isUnsupported),
    );
  }

  async accountCounts(accounts: readonly Address[]): Promise<AccountCounts[]> {
    return this.orUnavailable('eth_getTransactionCount', await accountCounts(this.pool, accounts));
  }

  async pooledOf(questions: readonly PooledQuestion[]): Promise<PooledTransactions[]> {
    return this.orUnavailable('eth_getTransactionCount', await pooledTransactions(this.pool, questions));
  }

  async minedOf(questions: readonly MinedQuestion[]): Promise<MinedTransactions[]> {
    const { number: head } = await this.head();
    return this.orUnavailable('eth_getBlockByNumber', await minedTransactions(this.pool, head, questions));
  }

  async transactions(hashes: readonly Hash[]): Promise<(SentTransaction | null)[]> {
    const params = hashes.map((each) => [each]);
    const shown = await this.rpc.all('eth_getTransactionByHash', params, (value) =>
      value === null ? null : sentTransaction(value, this.chainId),
    );
    return shown.map((sent, i) => (sent?.hash === hashes[i] ? sent : null));
  }

  async nonceUses(slots: readonly NonceQuestion[]): Promise<NonceUse[]> {
    return nonceUses(this.pool, slots, this.nonceUseRounds++);
  }

  async balances(accounts: readonly Address[]): Promise<bigint[]> {
    const params = accounts.map((account) => [account, 'latest']);
    return this.rpc.all('eth_getBalance', params, (value) => quantity(value, 'balance'));
  }

  async permitNonces(questions: readonly PermitNonceQuestion[]): Promise<(bigint | null)[]> {
    return permitNonces(this.rpc, questions);
  }

  async agreedPermitNonces(questions: readonly PermitNonceQuestion[]): Promise<(Agreed<bigint> | null)[]> {
    return agreedPermitNonces(this.pool, questions);
  }

  async delegated(accounts: readonly Address[]): Promise<boolean[]> {
    const params = accounts.map((account) => [account, 'latest']);
    return this.rpc.all('eth_getCode', params, isDelegation);
  }

  async estimateGas(calls: readonly Call[]): Promise<GasEstimate[]> {
    return estimateGas(this.pool, this.rpc, calls);
  }

  async feeQuote(): Promise<FeeQuote> {
    // Also when the answer is cached: whether a caller violates I11 (docs/invariants.md) must not depend on timing.
    assertOutsideTransaction('eth_feeHistory');
    return this.quotes.current();
  }

  async l1DataFees(calls: readonly DataOfCall[]): Promise<bigint[]> {
    return this.dataFees.upperBounds(calls);
  }

  async broadcast(transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]> {
    return this.blobSends.execute(transactions, (formed) => broadcast(this.pool, this.rpc, formed));
  }

  /** For a node whose `latest` is not a block yet, or that has none while it syncs. */
  private async newestReal(): Promise<BlockHeader> {
    const number = await this.rpc.one('eth_blockNumber', [], (value) => smallNumber(value, 'head'));
    return this.rpc.one('eth_getBlockByNumber', [hexQuantity(Math.max(0, number - 1)), false], blockHeader);
  }

  private orUnavailable<T>(method: string, answers: readonly (T | null)[]): T[] {
    return answers.map((answer) => {
      if (answer === null) throw this.rpc.unavailable(method, 'no endpoint answered');
      return answer;
    });
  }
}
